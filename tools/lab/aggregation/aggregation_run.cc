#include "tools/lab/aggregation/aggregation_run.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>

#include "neptune/base/strings.h"
#include "neptune/dac/aggregator_options.h"
#include "neptune/examples/client/operators_module.h"
#include "neptune/examples/micro/micro_aggregation.h"
#include "neptune/examples/micro/micro_module.h"
#include "tools/lab/aggregation/load_knowledge.h"
#include "tools/lab/aggregation/waiting_thread.h"
#include "tools/lab/kit/host_faults.h"
#include "tools/lab/kit/percentile.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::Node;
using neptune::NodeId;
using neptune::Simulator;
using neptune::StrAppend;
using neptune::StrCat;
using neptune::TimePoint;
using neptune::examples::MicroRequest;
using workload::ScriptEvent;

const neptune::ServiceName kMicro("micro");
// Long enough for all nodes to receive the first announcements.
constexpr Duration kStartTime = std::chrono::milliseconds(500);
constexpr int kAnnouncementsToExpiry = 5;

neptune::ClusterSpec WithoutNodes(neptune::ClusterSpec spec) {
  spec.clear_nodes();
  return spec;
}

uint64_t ToNanos(double ms) { return static_cast<uint64_t>(std::llround(ms * 1e6)); }

}  // namespace

neptune::ClusterSpec AggregationSpec(const AggregationClusterOptions& options,
                                     const std::string& multicast_group) {
  std::string text =
      StrCat("name: 'lab' multicast_group: '", multicast_group,
             "' announce_interval_ms: ", options.announce_interval_ms,
             " services { name: 'micro' module: 'micro' partition_count: ", options.server_count,
             " wait_share_max: 1 queue_length_max: ", options.queue_length_max,
             " concurrency: ", options.concurrency.value_or(options.processors.count),
             " } services { name: 'asker' module: 'operators' }");
  for (int i = 0; i < options.server_count; ++i) {
    StrAppend(&text, " nodes { name: 's", i, "' hosts { service: 'micro' partitions: ", i, " } }");
  }
  for (int i = 0; i < options.client_count; ++i) {
    StrAppend(&text, " nodes { name: 'c", i, "' hosts { service: 'asker' } }");
  }
  auto spec = neptune::ParseClusterSpec(text, "lab");
  CHECK(spec.ok()) << spec.status();
  return *std::move(spec);
}

neptune::StatusOr<std::unique_ptr<neptune::ServiceModule>> MakeAggregationModule(
    const std::string& name) {
  if (name == "micro") return std::make_unique<neptune::examples::MicroModule>();
  return std::make_unique<neptune::examples::OperatorsModule>(
      neptune::examples::RegisterMicroReduce);
}

double AggregationProfile::IdealRate(int server_count, double processors) const {
  return 1e3 * server_count * processors /
         (server_count * local_ms + (server_count - 1) * reduce_ms);
}

MicroRequest AggregationProfile::RequestFor(uint64_t seed) const {
  MicroRequest request;
  request.set_seed(seed);
  request.set_local_mean_ns(ToNanos(local_ms));
  request.set_reduce_mean_ns(ToNanos(reduce_ms));
  request.set_request_log_deviation(request_log_deviation);
  request.set_partition_log_deviation(partition_log_deviation);
  return request;
}

AggregationProfile MicroProfile() { return {.name = "MICRO"}; }

AggregationProfile RetProfile() {
  const double half_of_variance = 1.1 / std::sqrt(2);
  return {.name = "RET",
          .local_ms = 91,
          .reduce_ms = 11.5,
          .request_log_deviation = half_of_variance,
          .partition_log_deviation = half_of_variance};
}

AggregationProfile ProfileOf(const std::string& name) {
  if (name == "RET") return RetProfile();
  CHECK_EQ(name, "MICRO");
  return MicroProfile();
}

AggregationCluster::AggregationCluster(const AggregationClusterOptions& options)
    : options_(options),
      spec_(AggregationSpec(options, "239.192.7.1:7400")),
      spec_without_nodes_(WithoutNodes(spec_)),
      nodes_({.seed = options.seed,
              .sim = {.network = options.network},
              .make_options = [this](const std::string& name) { return OptionsOf(name); }}) {
  for (const neptune::NodeSpec& node : spec_.nodes()) {
    nodes_.Add({.name = node.name(), .processors = ProcessorsOf(node.name())});
  }
  simulator().RunFor(kStartTime);
}

AggregationCluster::~AggregationCluster() = default;

neptune::ProcessorOptions AggregationCluster::ProcessorsOf(const std::string& name) const {
  if (name[0] != 's') return options_.processors;
  const auto other = options_.other_processors.find(std::stoi(name.substr(1)));
  return other == options_.other_processors.end() ? options_.processors : other->second;
}

// The spec has one concurrency of a service for all nodes; here each node has its own. No node
// needs to know what the others host, and n specs of n nodes would dominate the memory.
neptune::ClusterSpec AggregationCluster::SpecFor(const std::string& name) const {
  neptune::ClusterSpec spec = spec_without_nodes_;
  *spec.add_nodes() = *std::find_if(spec_.nodes().begin(), spec_.nodes().end(),
                                    [&](const auto& node) { return node.name() == name; });
  const int concurrency = options_.concurrency.value_or(ProcessorsOf(name).count);
  spec.mutable_services(0)->set_concurrency(static_cast<uint32_t>(concurrency));
  return spec;
}

neptune::NodeOptions AggregationCluster::OptionsOf(const std::string& name) {
  neptune::NodeOptions options;
  options.spec = SpecFor(name);
  options.modules = MakeAggregationModule;
  options.yellow_page.expiry =
      kAnnouncementsToExpiry * std::chrono::milliseconds(options_.announce_interval_ms);
  options.with_admin = false;
  options.with_method_statistics = false;
  options.adjust_aggregations = [this](neptune::AggregatorOptions* aggregations) {
    if (options_.threads_wait) aggregations->reduction_place = MakeWaitingThread;
    InformOfLoads(aggregations);
  };
  return options;
}

void AggregationCluster::InformOfLoads(neptune::AggregatorOptions* options) {
  const LoadInformation information = options_.load_information;
  if (information == LoadInformation::kAsIs) return;
  if (information != LoadInformation::kPolled) options->poll_count = 0;
  if (information != LoadInformation::kMeasured) {
    options->make_load_estimator = [] { return std::make_unique<AnnouncedLoads>(); };
    return;
  }
  options->make_load_estimator = [this] {
    return std::make_unique<MeasuredLoads>([this](const NodeId& node) { return PendingOf(node); });
  };
}

Duration AggregationCluster::PendingOf(const NodeId& node) const {
  const Node* const there = nodes_.Find(node.value());
  return there == nullptr ? Duration(0) : there->PendingAggregationWork();
}

Node& AggregationCluster::server(int number) { return nodes_.node(StrCat("s", number)); }
Node& AggregationCluster::client(int number) { return nodes_.node(StrCat("c", number)); }

Duration AggregationCluster::ServerTime() {
  Duration sum{0};
  for (int i = 0; i < server_count(); ++i) {
    sum += simulator().host(StrCat("s", i)).sim_processors().consumed();
  }
  return sum;
}

Duration AggregationCluster::ClientTime() {
  Duration sum{0};
  for (int i = 0; i < client_count(); ++i) {
    sum += simulator().host(StrCat("c", i)).sim_processors().consumed();
  }
  return sum;
}

neptune::Status AggregationCluster::Schedule(const std::vector<ScriptEvent>& script) {
  for (const ScriptEvent& event : script) {
    if (!nodes_.contains(event.node)) {
      return neptune::InvalidArgument("the script names '", event.node, "', which is not a node");
    }
    if (event.kind == ScriptEvent::Kind::kFail || event.kind == ScriptEvent::Kind::kHang ||
        event.kind == ScriptEvent::Kind::kNormal) {
      return neptune::InvalidArgument("the script lets requests of ", event.node,
                                      " fail or hang, which MICRO's do not");
    }
    simulator().At(simulator().now() + event.at, [this, event] {
      CHECK(ApplyToHost(event, simulator())) << "an event that was refused above";
    });
  }
  return neptune::OkStatus();
}

std::vector<AggregationArrival> PlanArrivals(const AggregationLoadOptions& load, int client_count,
                                             uint64_t seed) {
  neptune::RandomSource random(seed);
  std::vector<AggregationArrival> arrivals;
  Duration at{0};
  while (true) {
    at += neptune::FromSeconds(random.Exponential(1 / load.rate_per_s));
    if (at >= load.warm_up + load.duration) return arrivals;
    arrivals.push_back({at, static_cast<int>(random.Below(static_cast<uint64_t>(client_count)))});
  }
}

namespace {

neptune::AggregationRequest RequestWith(const AggregationLoadOptions& load, int server_count,
                                        uint64_t seed, TimePoint at) {
  MicroRequest micro = load.profile.RequestFor(seed);
  micro.set_slice_ns(static_cast<uint64_t>(load.slice.count()));
  neptune::AggregationRequest request = neptune::examples::MicroAggregation(
      kMicro, static_cast<uint32_t>(server_count), micro, at + load.timeout);
  request.aggregation_quality_min = load.uncancelled ? kAnyQuality : load.quality_min;
  request.scheme = load.scheme;
  request.timeouts = load.timeouts;
  return request;
}

}  // namespace

AggregationOutcome MakeRequest(Node& node, const AggregationLoadOptions& load, int server_count,
                               uint64_t seed, uint64_t number, TimePoint at) {
  neptune::ClientSession session(node.client());
  neptune::Data data;
  neptune::AggregationReport report;
  AggregationOutcome outcome;
  const neptune::Status status = neptune::Aggregate(
      session, RequestWith(load, server_count, seed * 1'000'000'007 + number, at), &data, &report);
  outcome.response = neptune::this_thread::Now() - at;
  outcome.status = status.code();
  if (!status.ok()) return outcome;
  if (report.quality() < load.quality_min) {
    outcome.status = neptune::StatusCode::kUnavailable;
    return outcome;
  }
  outcome.quality = report.quality();
  const auto result = data.As<neptune::examples::MicroResult>();
  CHECK(result.ok()) << result.status();
  outcome.used = Duration((*result)->local_ns() + (*result)->reduce_ns());
  return outcome;
}

namespace {

// Offers the requests in order, each at its time.
class OpenLoop {
 public:
  OpenLoop(AggregationCluster& cluster, const AggregationLoadOptions& load, uint64_t seed)
      : cluster_(cluster),
        load_(load),
        seed_(seed),
        arrivals_(PlanArrivals(load, cluster.client_count(), seed)) {
    result_.measured_for = load.duration;
  }

  AggregationRunResult Run() {
    Simulator& simulator = cluster_.simulator();
    const TimePoint began = simulator.now();
    const Duration server_time = cluster_.ServerTime();
    const Duration client_time = cluster_.ClientTime();
    for (size_t i = 0; i < arrivals_.size(); ++i) {
      simulator.At(began + arrivals_[i].at,
                   [this, i, at = began + arrivals_[i].at] { Offer(i, at); });
    }
    simulator.RunFor(load_.warm_up + load_.duration);
    while (result_.outcomes.size() < arrivals_.size()) {
      simulator.RunFor(std::chrono::milliseconds(100));
    }
    result_.server_time = cluster_.ServerTime() - server_time;
    result_.client_time = cluster_.ClientTime() - client_time;
    return std::move(result_);
  }

 private:
  void Offer(size_t number, TimePoint at) {
    Node& node = cluster_.client(arrivals_[number].client);
    node.RunOnControl([this, number, at, &node] {
      AggregationOutcome outcome =
          MakeRequest(node, load_, cluster_.server_count(), seed_, number, at);
      outcome.arrived = arrivals_[number].at;
      outcome.measured = outcome.arrived >= load_.warm_up;
      result_.outcomes.push_back(outcome);
    });
  }

  AggregationCluster& cluster_;
  const AggregationLoadOptions& load_;
  const uint64_t seed_;
  const std::vector<AggregationArrival> arrivals_;
  AggregationRunResult result_;
};

double MeanOver(const std::vector<AggregationOutcome>& outcomes, auto value) {
  double sum = 0;
  double count = 0;
  for (const AggregationOutcome& one : outcomes) {
    if (!one.measured) continue;
    sum += value(one);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

std::vector<Duration> FullAnswers(const std::vector<AggregationOutcome>& outcomes) {
  std::vector<Duration> times;
  for (const AggregationOutcome& one : outcomes) {
    if (one.measured && one.full()) times.push_back(one.response);
  }
  return times;
}

}  // namespace

AggregationRunResult RunAggregations(AggregationCluster& cluster,
                                     const AggregationLoadOptions& load, uint64_t seed) {
  return OpenLoop(cluster, load, seed).Run();
}

double AggregationRunResult::MeanMs() const {
  const std::vector<Duration> times = FullAnswers(outcomes);
  double sum = 0;
  for (const Duration time : times) sum += neptune::ToMillis(time);
  return times.empty() ? 0 : sum / static_cast<double>(times.size());
}

double AggregationRunResult::PercentileMs(double fraction) const {
  return lab::PercentileMs(FullAnswers(outcomes), fraction);
}

double AggregationRunResult::FullShare() const {
  return MeanOver(outcomes, [](const AggregationOutcome& one) { return one.full() ? 1.0 : 0.0; });
}

double AggregationRunResult::MeanQuality() const {
  return MeanOver(outcomes, [](const AggregationOutcome& one) { return one.quality; });
}

double AggregationRunResult::FullRate() const {
  return static_cast<double>(FullAnswers(outcomes).size()) / neptune::ToSeconds(measured_for);
}

double AggregationRunResult::QualityRate() const {
  double sum = 0;
  for (const AggregationOutcome& one : outcomes) sum += one.measured ? one.quality : 0;
  return sum / neptune::ToSeconds(measured_for);
}

Duration AggregationRunResult::AnsweredTime() const {
  Duration sum{0};
  for (const AggregationOutcome& one : outcomes) sum += one.used;
  return sum;
}

std::vector<double> AggregationRunResult::QualitySeries(Duration window) const {
  std::vector<double> series;
  for (const AggregationOutcome& one : outcomes) {
    const auto number = static_cast<size_t>((one.arrived + one.response) / window);
    if (number >= series.size()) series.resize(number + 1);
    series[number] += one.quality / neptune::ToSeconds(window);
  }
  return series;
}

Measurement MeasureAggregations(const AggregationClusterOptions& options,
                                const AggregationLoadOptions& load, uint64_t seed) {
  AggregationClusterOptions seeded = options;
  seeded.seed = seed;
  AggregationCluster cluster(seeded);
  const AggregationRunResult result = RunAggregations(cluster, load, seed);
  double processors = options.server_count * options.processors.count * options.processors.speed;
  for (const auto& [server, other] : options.other_processors) {
    processors += other.count * other.speed - options.processors.count * options.processors.speed;
  }
  const double offered_s = neptune::ToSeconds(load.warm_up + load.duration);
  return {{"response_ms_mean", result.MeanMs()},
          {"response_ms_p99", result.PercentileMs(0.99)},
          {"full_percent", 100 * result.FullShare()},
          {"full_per_s", result.FullRate()},
          {"quality_per_s", result.QualityRate()},
          {"server_busy_percent",
           100 * neptune::ToSeconds(result.server_time) / (offered_s * processors)}};
}

}  // namespace search::lab
