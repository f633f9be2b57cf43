#include "tools/lab/kit/sim_cluster.h"

#include <glog/logging.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "neptune/balancing/replica_policy.h"
#include "neptune/base/strings.h"
#include "tools/lab/kit/host_faults.h"
#include "tools/lab/kit/percentile.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::FromSeconds;
using neptune::Node;
using neptune::NodeId;
using neptune::Simulator;
using neptune::StrAppend;
using neptune::StrCat;
using neptune::TimePoint;
using workload::Conduct;
using workload::ScriptEvent;

const neptune::ServiceName kWork("work");
// Chooses with global knowledge that no node has, among all replicas, tried or not.
class IdealPolicy final : public neptune::ReplicaPolicy {
 public:
  using Choice = std::function<size_t(const std::vector<neptune::Replica>& replicas)>;
  explicit IdealPolicy(Choice choose) : choose_(std::move(choose)) {}
  neptune::ReplicaChoice Choose(const neptune::ReplicaQuestion& question) override {
    return {.index = choose_(question.replicas)};
  }

 private:
  const Choice choose_;
};

// Long enough for all nodes to receive the first announcements.
constexpr Duration kStartTime = std::chrono::milliseconds(500);

// Fitted to 8.1 % beyond 10 ms and 5.6 % beyond 20 ms at servers that are busy 90 % of the time:
// 0.9 * share * exp(-t / mean).
const double kSlowMeanS = 0.010 / std::log(8.1 / 5.6);
const double kSlowShare = 0.081 * 8.1 / 5.6 / 0.9;

}  // namespace

neptune::ClusterSpec MakeClusterSpec(const SimClusterOptions& options) {
  std::string text =
      StrCat("name: 'lab' multicast_group: '239.192.7.1:7400' balancing: '",
             options.balancing == "ideal" ? "random" : options.balancing,
             "' poll_size: ", options.poll_size, " poll_discard_ms: ", options.poll_discard_ms,
             " poll_waits_for_all: ", options.poll_waits_for_all ? "true" : "false",
             " announce_interval_ms: ", options.announce_interval_ms, options.service_classes,
             " services { name: 'work' module: 'work' queue_length_max: ", options.queue_length_max,
             " concurrency: ", options.processors.count,
             options.time_limit.empty() ? std::string()
                                        : StrCat(" time_limit { ", options.time_limit, " }"),
             " ", options.service_fields,
             options.slice_ms == 0
                 ? std::string()
                 : StrCat(" parameters { key: 'slice_ms' value: '", options.slice_ms, "' }"),
             " } services { name: 'idle' module: 'work' }");
  // Class scheduling assumes that a node can use all its processors.
  const int worker_count = options.service_classes.empty() ? 1 : options.processors.count;
  for (int i = 0; i < options.server_count; ++i) {
    StrAppend(&text, " nodes { name: 's", i, "' worker_threads: ", worker_count,
              " hosts { service: 'work' } }");
  }
  for (int i = 0; i < options.client_count; ++i) {
    StrAppend(&text, " nodes { name: 'c", i, "' hosts { service: 'idle' } }");
  }
  auto spec = neptune::ParseClusterSpec(text, "lab");
  CHECK(spec.ok()) << spec.status();
  return *std::move(spec);
}

SimCluster::SimCluster(const SimClusterOptions& options)
    : options_(options),
      spec_(MakeClusterSpec(options)),
      assigned_(static_cast<size_t>(options.server_count)),
      nodes_({.seed = options.seed,
              .sim = {.network = options.network},
              .make_options = [this](const std::string& name) { return OptionsOf(name); }}) {
  for (const neptune::NodeSpec& node : spec_.nodes()) {
    const std::string& name = node.name();
    conducts_[name] = std::make_shared<Conduct>();
    const bool absent = std::count(options_.absent.begin(), options_.absent.end(), name) > 0;
    nodes_.Add({.name = name, .processors = options_.processors});
    if (absent) simulator().Crash(name);
  }
  for (const auto& [server, factor] : options_.slowness) {
    simulator().SlowProcessors(StrCat("s", server), factor);
  }
  simulator().RunFor(kStartTime);
  if (options_.slow_datagrams) {
    simulator().DelayDatagrams([this](const std::string& host) { return DatagramDelay(host); });
  }
}

Duration SimCluster::DatagramDelay(const std::string& host) {
  if (host[0] != 's' || server(ServerNumber(NodeId(host))).LoadIndex() == 0) return Duration(0);
  if (simulator().random().Uniform() >= kSlowShare) return Duration(0);
  return FromSeconds(simulator().random().Exponential(kSlowMeanS));
}

size_t SimCluster::Ideal(const std::vector<neptune::Replica>& replicas) {
  std::vector<size_t> best;
  double best_cost = 0;
  for (size_t i = 0; i < replicas.size(); ++i) {
    const int number = ServerNumber(replicas[i].node);
    const auto slow = options_.slowness.find(number);
    const double cost = (assigned_[static_cast<size_t>(number)] + 1) *
                        (slow == options_.slowness.end() ? 1 : slow->second);
    if (best.empty() || cost < best_cost) {
      best = {i};
      best_cost = cost;
    } else if (cost == best_cost) {
      best.push_back(i);
    }
  }
  const size_t chosen = best[simulator().random().Below(best.size())];
  ++assigned_[static_cast<size_t>(ServerNumber(replicas[chosen].node))];
  return chosen;
}

SimCluster::~SimCluster() = default;

neptune::NodeOptions SimCluster::OptionsOf(const std::string& name) {
  neptune::NodeOptions options;
  options.spec = spec_;
  options.modules = [conduct = conducts_[name]](const std::string&) {
    return neptune::StatusOr<std::unique_ptr<neptune::ServiceModule>>(
        std::make_unique<workload::WorkModule>(conduct));
  };
  options.with_admin = false;
  if (options_.balancing == "ideal") {
    options.make_replica_policy = [this](neptune::Loop&) {
      return std::make_unique<IdealPolicy>(
          [this](const std::vector<neptune::Replica>& replicas) { return Ideal(replicas); });
    };
  }
  return options;
}

int SimCluster::ServerNumber(const NodeId& node) {
  const std::string& name = node.value();
  int number = -1;
  if (name.empty() || name[0] != 's') return -1;
  std::from_chars(name.data() + 1, name.data() + name.size(), number);
  return number;
}

neptune::Status SimCluster::Schedule(const std::vector<ScriptEvent>& script) {
  for (const ScriptEvent& event : script) {
    if (!conducts_.contains(event.node)) {
      return neptune::InvalidArgument("the script names '", event.node, "', which is not a node");
    }
    simulator().At(simulator().now() + event.at, [this, event] { Apply(event); });
  }
  return neptune::OkStatus();
}

void SimCluster::Apply(const ScriptEvent& event) {
  if (ApplyToHost(event, simulator())) return;
  Conduct& conduct = *conducts_.at(event.node);
  if (event.kind == ScriptEvent::Kind::kFail) {
    conduct.share = event.amount;
    conduct.kind = Conduct::Kind::kFailing;
  } else if (event.kind == ScriptEvent::Kind::kHang) {
    conduct.kind = Conduct::Kind::kHung;
  } else {
    conduct.kind = Conduct::Kind::kNormal;
  }
}

namespace {

Duration FromMs(double ms) { return Duration(std::llround(ms * 1e6)); }

// Admits requests by a ResponseAdmission.
class AdmissionGate {
 public:
  explicit AdmissionGate(const std::optional<ResponseAdmission>& options) : options_(options) {}

  bool Admits(neptune::RandomSource& random) { return !options_ || random.Uniform() < share_; }
  void OnAnswer(TimePoint now, Duration response) {
    if (!options_) return;
    sum_ += response;
    ++count_;
    if (now - window_began_ < options_->window) return;
    const bool in_time = sum_ / count_ <= options_->target;
    share_ = in_time ? std::min(1.0, share_ + options_->step)
                     : std::max(options_->step, share_ * options_->factor);
    window_began_ = now;
    sum_ = Duration(0);
    count_ = 0;
  }

 private:
  const std::optional<ResponseAdmission> options_;
  double share_ = 1;
  TimePoint window_began_{};
  Duration sum_{0};
  int64_t count_ = 0;
};

// Offers the requests in order, each at its time.
class OpenLoop {
 public:
  OpenLoop(SimCluster& cluster, const SimLoadOptions& load, uint64_t seed)
      : cluster_(cluster),
        load_(load),
        random_(seed),
        admission_random_(seed + 1),
        gate_(load.admission) {
    result_.outcomes.reserve(load.count);
    result_.began = cluster.simulator().now();
  }

  SimLoadResult Run() {
    PlanNext(result_.began);
    Simulator& simulator = cluster_.simulator();
    while (!planned_all_ || ended_count_ < offered_count_) {
      simulator.RunFor(std::chrono::milliseconds(100));
    }
    return std::move(result_);
  }

 private:
  // The phase of the present time; null after the last one.
  const LoadPhase* PhaseAt(TimePoint at) const {
    for (const LoadPhase& phase : load_.phases) {
      if (at - result_.began < phase.until) return &phase;
    }
    return nullptr;
  }

  void PlanNext(TimePoint after) {
    const LoadPhase* const phase = PhaseAt(after);
    planned_all_ = load_.phases.empty() ? offered_count_ == load_.warm_up_count + load_.count
                                        : phase == nullptr;
    if (planned_all_) return;
    const workload::Distribution& gap_ms = phase == nullptr ? load_.gap_ms : phase->gap_ms;
    const TimePoint at = after + FromMs(gap_ms.Sample(random_));
    cluster_.simulator().At(at, [this, at] {
      Offer(at);
      PlanNext(at);
    });
  }

  void Offer(TimePoint at) {
    const uint64_t number = offered_count_++;
    const LoadPhase* const phase = PhaseAt(at);
    const bool other = phase != nullptr && random_.Uniform() < phase->other_share;
    const Duration cost = FromMs((phase == nullptr ? load_.service_ms
                                  : other          ? phase->other_service_ms
                                                   : phase->service_ms)
                                     .Sample(random_));
    const bool waits = phase != nullptr && phase->waiting_share > 0 && !other &&
                       random_.Uniform() < phase->waiting_share;
    const Duration wait = waits ? FromMs(phase->wait_ms.Sample(random_)) : Duration(0);
    const int client =
        static_cast<int>(random_.Below(static_cast<uint64_t>(cluster_.client_count())));
    if (!gate_.Admits(admission_random_)) {
      ++ended_count_;
      return Keep(number, {.arrived = at,
                           .cost = cost,
                           .status = neptune::StatusCode::kResourceExhausted,
                           .wait = wait});
    }
    Node& node = cluster_.client(client);
    node.RunOnControl([this, number, at, cost, wait, &node] {
      neptune::ClientSession session(node.client());
      neptune::Data response;
      neptune::CallReport report;
      neptune::Status status;
      for (int round = 0; round <= load_.stubborn_retry_count; ++round) {
        status =
            neptune::Call(session,
                          {kWork, neptune::PartitionId(0),
                           neptune::MethodName(workload::kWorkMethod), neptune::AccessMode::kRead},
                          neptune::Data(workload::WorkRequest(cost, wait)), &response,
                          {.deadline = neptune::this_thread::Now() + load_.timeout}, &report);
        ChargeRefusals(report, status);
        if (status.ok()) break;
      }
      ++ended_count_;
      const TimePoint now = neptune::this_thread::Now();
      cluster_.Ended(SimCluster::ServerNumber(report.server));
      // Refusals are excluded because they are fast.
      if (status.code() != neptune::StatusCode::kResourceExhausted) gate_.OnAnswer(now, now - at);
      Keep(number, {at, cost, now - at, status.code(), SimCluster::ServerNumber(report.server),
                    report.attempts, wait});
    });
  }

  // Every attempt but one that was answered or ran out of time was refused. The last one's server
  // is known; those of earlier attempts are drawn.
  void ChargeRefusals(const neptune::CallReport& report, const neptune::Status& status) {
    if (load_.refusal_cost == Duration(0)) return;
    const bool last_refused = status.code() == neptune::StatusCode::kResourceExhausted;
    for (int i = last_refused ? 0 : 1; i < report.attempts; ++i) {
      int server = i == 0 ? SimCluster::ServerNumber(report.server) : -1;
      if (server < 0) {
        server = static_cast<int>(
            admission_random_.Below(static_cast<uint64_t>(cluster_.server_count())));
      }
      cluster_.simulator()
          .host(StrCat("s", server))
          .processors()
          .Execute(*neptune::Loop::Current(), load_.refusal_cost, [] {});
    }
  }

  void Keep(uint64_t number, const SimOutcome& outcome) {
    if (number >= load_.warm_up_count) result_.outcomes.push_back(outcome);
  }

  SimCluster& cluster_;
  const SimLoadOptions& load_;
  neptune::RandomSource random_;
  neptune::RandomSource admission_random_;
  AdmissionGate gate_;
  uint64_t offered_count_ = 0;
  uint64_t ended_count_ = 0;
  bool planned_all_ = false;
  SimLoadResult result_;
};

std::vector<Duration> Answered(const std::vector<SimOutcome>& outcomes) {
  std::vector<Duration> times;
  for (const SimOutcome& one : outcomes) {
    if (one.status == neptune::StatusCode::kOk) times.push_back(one.response);
  }
  return times;
}

}  // namespace

SimLoadResult RunLoad(SimCluster& cluster, const SimLoadOptions& load, uint64_t seed) {
  return OpenLoop(cluster, load, seed).Run();
}

double SimLoadResult::MeanMs() const {
  const std::vector<Duration> times = Answered(outcomes);
  double sum = 0;
  for (const Duration time : times) sum += neptune::ToMillis(time);
  return sum / static_cast<double>(times.size());
}

double SimLoadResult::PercentileMs(double fraction) const {
  return lab::PercentileMs(Answered(outcomes), fraction);
}

double SimLoadResult::LossPercent() const {
  return 100.0 * static_cast<double>(outcomes.size() - Answered(outcomes).size()) /
         static_cast<double>(outcomes.size());
}

}  // namespace search::lab
