#include "tools/lab/replication/replica_run.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"

namespace search::lab {

using neptune::Duration;
using neptune::Node;
using neptune::ReplicaReport;
using neptune::ReplicaSession;
using neptune::Simulator;
using neptune::Status;
using neptune::StatusCode;
using neptune::StrAppend;
using neptune::StrCat;
using neptune::TimePoint;

const neptune::ServiceName kReplicaService("replicated");

namespace {

// Long enough for elections in all partitions, and for all nodes to receive their results.
constexpr Duration kStartTime = std::chrono::seconds(3);
// Wait for late answers after the last request.
constexpr Duration kEndTime = std::chrono::seconds(5);
constexpr Duration kThinkTime = std::chrono::seconds(1);
constexpr double kInTimeShareMin = 0.98;
constexpr double kStepBack = 0.8;

std::string ReplicationText(const ReplicaClusterOptions& options) {
  // One replica has only a log, like the papers' service without replication.
  if (options.degree == 1) return " replication { level: 'ordered_writes' }";
  std::string text = StrCat(" replication { level: '", options.level, "'");
  if (options.level != "write_anywhere") StrAppend(&text, " mode: '", options.mode, "'");
  if (options.level == "staleness_bounded")
    StrAppend(&text, " staleness_ms: ", options.staleness_ms);
  if (options.with_witness) text += " witness: 'w'";
  return text + " }";
}

// Equal numbers on each server. The preferred primary rotates among the nodes of a partition with
// its number. The first of these nodes rotates as well, shifted by one in each round, so that all
// nodes are preferred equally often.
std::vector<std::string> PartitionsOf(const ReplicaClusterOptions& options) {
  const auto count = static_cast<uint32_t>(options.server_count);
  std::vector<std::string> held(count);
  for (uint32_t p = 0; p < kReplicaPartitionCount; ++p) {
    for (int k = 0; k < options.degree; ++k) {
      const uint32_t node = (p + p / count + static_cast<uint32_t>(k)) % count;
      StrAppend(&held[node], " partitions: ", p);
    }
  }
  return held;
}

}  // namespace

neptune::ClusterSpec ReplicaClusterSpec(const ReplicaClusterOptions& options) {
  std::string text = StrCat(
      "name: 'lab' multicast_group: '239.192.7.1:7400' services { name: 'replicated' module: "
      "'replicated' partition_count: ",
      kReplicaPartitionCount, " wait_share_max: 1 queue_length_max: ", options.queue_length_max,
      " concurrency: ", options.processors.count);
  for (const auto& [key, value] : options.parameters) {
    StrAppend(&text, " parameters { key: '", key, "' value: '", value, "' }");
  }
  StrAppend(&text, ReplicationText(options), " } services { name: 'idle' module: 'idle' }");
  const std::vector<std::string> held = PartitionsOf(options);
  for (int i = 0; i < options.server_count; ++i) {
    StrAppend(&text, " nodes { name: 's", i, "' hosts { service: 'replicated'",
              held[static_cast<size_t>(i)], " } }");
  }
  for (int i = 0; i < options.client_count; ++i) {
    StrAppend(&text, " nodes { name: 'c", i, "' hosts { service: 'idle' } }");
  }
  if (options.with_witness) text += " nodes { name: 'w' hosts { service: 'idle' } }";
  auto spec = neptune::ParseClusterSpec(text, "lab");
  CHECK(spec.ok()) << spec.status();
  return *std::move(spec);
}

namespace {

// Module of nodes without services.
class IdleModule final : public neptune::ServiceModule {
 public:
  Status Start(neptune::ModuleContext&) override { return neptune::OkStatus(); }
  std::string implementation() const override { return "idle"; }
};

}  // namespace

ReplicaCluster::ReplicaCluster(const ReplicaClusterOptions& options)
    : options_(options),
      spec_(ReplicaClusterSpec(options)),
      nodes_({.seed = options.seed,
              .sim = {.network = neptune::kPaperCluster},
              .make_options = [this](const std::string&) { return MakeOptions(); }}) {
  nodes_.AddAll(spec_, options_.processors);
  simulator().RunFor(kStartTime);
}

ReplicaCluster::~ReplicaCluster() = default;

neptune::NodeOptions ReplicaCluster::MakeOptions() const {
  neptune::NodeOptions options;
  options.spec = spec_;
  options.modules =
      [this](
          const std::string& module) -> neptune::StatusOr<std::unique_ptr<neptune::ServiceModule>> {
    if (module == "idle") return std::make_unique<IdleModule>();
    return options_.module();
  };
  options.with_admin = false;
  options.with_method_statistics = false;
  return options;
}

Node& ReplicaCluster::client(int number) { return nodes_.node(StrCat("c", number)); }

void ReplicaCluster::RunOnClient(const std::function<void(ReplicaSession&)>& body) {
  bool is_over = false;
  nodes_.Spawn("c0", [&](neptune::ClientSession& session) {
    ReplicaSession replicas(std::move(session));
    body(replicas);
    is_over = true;
  });
  while (!is_over) simulator().RunFor(std::chrono::milliseconds(100));
}

bool ReplicaOutcome::answered() const {
  switch (status.code()) {
    case StatusCode::kUnavailable:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kResourceExhausted:
    case StatusCode::kCancelled:
    case StatusCode::kAborted:
    case StatusCode::kInternal:
      return false;
    default:
      return true;
  }
}

double ReplicaRunResult::InTimeShare() const {
  return 1 - static_cast<double>(failed_count) / static_cast<double>(offered_count);
}

namespace {

class OpenLoop {
 public:
  OpenLoop(ReplicaCluster& cluster, const ReplicaLoadOptions& load, uint64_t seed)
      : cluster_(cluster), load_(load), random_(seed), began_(cluster.simulator().now()) {}

  ReplicaRunResult Run() {
    PlanNext(began_);
    Simulator& simulator = cluster_.simulator();
    const TimePoint end = began_ + load_.warm_up + load_.duration + kEndTime;
    while (!result_.was_ended_early && (simulator.now() < end || under_way_ > 0)) {
      simulator.RunFor(std::chrono::milliseconds(100));
    }
    // Requests in progress may still write into this object.
    while (under_way_ > 0) simulator.RunFor(std::chrono::milliseconds(100));
    return std::move(result_);
  }

 private:
  void PlanNext(TimePoint after) {
    const TimePoint at = after + neptune::FromSeconds(random_.Exponential(1 / load_.rate_per_s));
    if (at >= began_ + load_.warm_up + load_.duration || result_.was_ended_early) return;
    cluster_.simulator().At(at, [this, at] {
      Offer(at);
      PlanNext(at);
    });
  }

  std::shared_ptr<ReplicaUser> UserAt(TimePoint at) {
    if (!idle_.empty() && at - idle_.front()->asked_at >= kThinkTime) {
      std::shared_ptr<ReplicaUser> user = std::move(idle_.front());
      idle_.pop_front();
      return user;
    }
    Node& node = cluster_.client(static_cast<int>(user_count_) % cluster_.client_count());
    return std::make_shared<ReplicaUser>(user_count_++, neptune::ClientSession(node.client()));
  }

  void Offer(TimePoint at) {
    const std::shared_ptr<ReplicaUser> user = UserAt(at);
    user->asked_at = at;
    ReplicaCall call = load_.next(*user, random_);
    const bool is_measured = at - began_ >= load_.warm_up;
    if (is_measured) ++result_.offered_count;
    ++under_way_;
    Node& node = cluster_.client(static_cast<int>(user->number) % cluster_.client_count());
    node.RunOnControl([this, user, at, is_measured, call = std::move(call)] {
      Ask(*user, call, at, is_measured);
      idle_.push_back(user);
      --under_way_;
    });
  }

  void Ask(ReplicaUser& user, const ReplicaCall& call, TimePoint at, bool is_measured) {
    neptune::Data answer;
    ReplicaReport report;
    const Status status = user.session.Call(
        {kReplicaService, call.partition, call.method, call.access}, neptune::Data(call.request),
        &answer, {.deadline = at + load_.timeout}, &report);
    const ReplicaOutcome outcome{.arrived = at - began_,
                                 .response = neptune::this_thread::Now() - at,
                                 .is_write = call.access == neptune::AccessMode::kWrite,
                                 .status = status};
    if (call.on_answer) call.on_answer(status, answer);
    if (report.was_served) {
      neptune::Lsn& newest = user.versions[call.partition];
      if (report.version < newest) ++result_.regression_count;
      newest = std::max(newest, report.version);
    }
    if (is_measured) Keep(outcome);
  }

  void Keep(const ReplicaOutcome& outcome) {
    if (!outcome.answered() || outcome.response > load_.timeout) ++result_.failed_count;
    result_.outcomes.push_back(outcome);
    const double planned = load_.rate_per_s * neptune::ToSeconds(load_.duration);
    if (static_cast<double>(result_.failed_count) > load_.failed_share_max * planned) {
      result_.was_ended_early = true;
    }
  }

  ReplicaCluster& cluster_;
  const ReplicaLoadOptions& load_;
  neptune::RandomSource random_;
  const TimePoint began_;
  std::deque<std::shared_ptr<ReplicaUser>> idle_;
  uint64_t user_count_ = 0;
  uint64_t under_way_ = 0;
  ReplicaRunResult result_;
};

}  // namespace

ReplicaRunResult RunReplicas(ReplicaCluster& cluster, const ReplicaLoadOptions& load,
                             uint64_t seed) {
  return OpenLoop(cluster, load, seed).Run();
}

double HighestReplicaRate(const RunAtRate& run, const RateSearch& search) {
  const auto holds = [&](double rate) {
    const ReplicaRunResult result = run(rate, 2 * (1 - kInTimeShareMin));
    return !result.was_ended_early && result.InTimeShare() >= kInTimeShareMin;
  };
  double low = search.low;
  double high = search.high;
  while (!holds(low)) {
    high = low;
    low *= kStepBack;
    if (low < 1) return low;
  }
  for (int i = 0; i < search.steps; ++i) {
    const double middle = (low + high) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace search::lab
