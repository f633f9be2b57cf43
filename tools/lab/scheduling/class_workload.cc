#include "tools/lab/scheduling/class_workload.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>

#include "neptune/base/strings.h"
#include "neptune/scheduling/yield_function.h"
#include "tools/lab/scheduling/server_partitioning.h"
#include "tools/workload/workloads.h"

namespace search::lab {
namespace {

using neptune::ClassNumber;
using neptune::Duration;
using neptune::FromSeconds;
using neptune::NodeId;
using neptune::Simulator;
using neptune::StrAppend;
using neptune::StrCat;
using neptune::TimePoint;
using neptune::ToMillis;
using neptune::ToSeconds;
using neptune::YieldFunction;

const neptune::ServiceName kWork("work");
constexpr double kFullYields[kClassCount] = {4, 2, 1};
constexpr double kFullUntilMs = 1000;
// Callers wait longer than any request has yield, so that only servers drop requests.
constexpr Duration kTimeout = std::chrono::seconds(10);

// Requests a second at 100 % demand on one server; sched_policies verifies them.
double FullRate(const std::string& workload) { return workload == "Micro-benchmark" ? 12.27 : 7.5; }

workload::Workload WorkloadOf(const std::string& name) {
  auto found = workload::FindWorkload(name);
  CHECK(found.ok()) << found.status();
  CHECK_EQ(found->classes.size(), kClassCount);
  return *std::move(found);
}

Duration FromMs(double ms) { return Duration(std::llround(ms * 1e6)); }

YieldFunction YieldOf(const std::string& form, double full) {
  const Duration deadline = FromMs(kYieldDeadlineMs);
  auto made = form == "throughput" ? YieldFunction::Throughput(full, deadline)
              : form == "resptime"
                  ? YieldFunction::ResponseTime(full, deadline)
                  : YieldFunction::Hybrid(full, FromMs(kFullUntilMs), full / 2, deadline);
  CHECK(made.ok()) << made.status();
  return *std::move(made);
}

// The same in cluster spec syntax.
std::string ClassesText(const ClassRun& run) {
  std::string text;
  for (size_t k = 0; k < kClassCount; ++k) {
    StrAppend(&text, " service_classes { name: '", kClassNames[k], "' guarantee: ", run.guarantee,
              " yield { form: '", run.form, "' full: ", kFullYields[k],
              " deadline_ms: ", kYieldDeadlineMs);
    if (run.form == "hybrid") {
      StrAppend(&text, " full_until_ms: ", kFullUntilMs, " at_deadline: ", kFullYields[k] / 2);
    }
    StrAppend(&text, " } }");
  }
  return text;
}

SimClusterOptions ClusterOf(const ClassRun& run, uint64_t seed) {
  SimClusterOptions options;
  options.seed = seed;
  options.server_count = run.server_count;
  options.client_count = run.server_count == 1 ? 1 : 6;
  options.processors = {.count = kClassProcessors};
  options.poll_waits_for_all = true;
  options.service_classes = ClassesText(run);
  options.service_fields = StrCat("scheduling: '", run.policy, "'");
  return options;
}

// Offers the requests of every class, each at its time, and divides the servers if requested.
class ClassLoad {
 public:
  ClassLoad(SimCluster& cluster, const ClassRun& run, uint64_t seed)
      : cluster_(cluster), run_(run), began_(cluster.simulator().now()), chance_(seed) {
    const workload::Workload workload = WorkloadOf(run.workload);
    const double rate = run.is_constant ? 1000 * kClassProcessors / workload.service_mean()
                                        : FullRate(run.workload);
    for (size_t k = 0; k < kClassCount; ++k) {
      const workload::RequestClass& one = workload.classes[k];
      const double gap_ms = 1000 / (one.share * rate * run.demand * run.server_count);
      // Equal seeds give equal requests under every policy.
      streams_.push_back({.gap_ms = run.is_constant ? workload::Distribution::Fixed(gap_ms)
                                                    : workload.gap.ScaledTo(gap_ms),
                          .service_ms = run.is_constant
                                            ? workload::Distribution::Fixed(one.service.mean())
                                            : one.service,
                          .yield = YieldOf(run.form, kFullYields[k]),
                          .random = neptune::RandomSource(seed * kClassCount + k)});
    }
    for (int i = 0; i < run.server_count; ++i) all_servers_.emplace_back(StrCat("s", i));
  }

  std::vector<ClassOutcome> Run() {
    if (run_.is_partitioned) Divide(NominalDemands());
    PlanTicks();
    for (size_t k = 0; k < kClassCount; ++k) {
      // Staggers the first arrivals of constant gaps.
      PlanNext(k, began_ - FromMs(streams_[k].gap_ms.mean() * streams_[k].random.Uniform()));
    }
    const TimePoint end = began_ + run_.warm_up + run_.length;
    Simulator& simulator = cluster_.simulator();
    simulator.RunUntil(end);
    while (ended_count_ < offered_count_) simulator.RunFor(std::chrono::milliseconds(100));
    return std::move(outcomes_);
  }

 private:
  struct Stream {
    workload::Distribution gap_ms;
    workload::Distribution service_ms;
    YieldFunction yield;
    neptune::RandomSource random;
    uint64_t arrived_count = 0;  // since the servers were divided
  };

  bool IsMeasured(TimePoint at) const { return at - began_ >= run_.warm_up; }

  double SurgeOf(size_t service_class, TimePoint at) const {
    for (const ClassSurge& surge : run_.surges) {
      const Duration clock = at - began_;
      if (surge.service_class == service_class && clock >= surge.begin && clock < surge.end) {
        return surge.factor;
      }
    }
    return 1;
  }

  void PlanNext(size_t service_class, TimePoint after) {
    Stream& stream = streams_[service_class];
    const TimePoint at =
        after + FromMs(stream.gap_ms.Sample(stream.random) / SurgeOf(service_class, after));
    if (at >= began_ + run_.warm_up + run_.length) return;
    cluster_.simulator().At(std::max(at, began_), [this, service_class, at] {
      Offer(service_class, at);
      PlanNext(service_class, at);
    });
  }

  void Offer(size_t service_class, TimePoint at) {
    Stream& stream = streams_[service_class];
    ++offered_count_;
    ++stream.arrived_count;
    const Duration cost = FromMs(stream.service_ms.Sample(stream.random));
    const uint64_t client = stream.random.Below(static_cast<uint64_t>(cluster_.client_count()));
    neptune::Node& node = cluster_.client(static_cast<int>(client));
    std::vector<NodeId> except =
        run_.is_partitioned ? NotFor(service_class) : std::vector<NodeId>();
    node.RunOnControl([this, service_class, at, cost, &node, except = std::move(except)] {
      neptune::ClientSession session(node.client());
      session.service_class = kClassNames[service_class];
      neptune::Data response;
      const neptune::Status status =
          neptune::Call(session,
                        {kWork, neptune::PartitionId(0), neptune::MethodName(workload::kWorkMethod),
                         neptune::AccessMode::kRead},
                        neptune::Data(workload::WorkRequest(cost)), &response,
                        {.deadline = at + kTimeout, .except = except});
      Keep(service_class, at, status);
    });
  }

  void Keep(size_t service_class, TimePoint at, const neptune::Status& status) {
    ++ended_count_;
    if (!IsMeasured(at)) return;
    ClassOutcome outcome{.service_class = service_class, .arrived = at - began_};
    outcome.response = neptune::this_thread::Now() - at;
    outcome.in_time = status.ok() && ToMillis(outcome.response) <= kYieldDeadlineMs;
    if (status.ok()) outcome.yield = streams_[service_class].yield.At(outcome.response);
    outcomes_.push_back(outcome);
  }

  void PlanTicks() {
    const Duration end = run_.warm_up + run_.length;
    Simulator& simulator = cluster_.simulator();
    if (run_.on_tick) {
      for (Duration at = run_.tick; at <= end; at += run_.tick) {
        simulator.At(began_ + at, [this, at] { run_.on_tick(at, cluster_); });
      }
    }
    if (!run_.is_partitioned) return;
    constexpr Duration kInterval = kServerPartitioningInterval;
    for (Duration at = kInterval; at < end; at += kInterval) {
      simulator.At(began_ + at, [this] { Divide(RecentDemands()); });
    }
  }

  ClassDemand DemandOf(size_t service_class, double requests_per_s) const {
    const double service_s = streams_[service_class].service_ms.mean() / 1000;
    return {.servers = requests_per_s * service_s / kClassProcessors,
            .guarantee = run_.guarantee,
            .yield_rate = kFullYields[service_class] / service_s};
  }
  std::vector<ClassDemand> NominalDemands() const {
    std::vector<ClassDemand> demands;
    for (size_t k = 0; k < kClassCount; ++k) {
      demands.push_back(DemandOf(k, 1000 / streams_[k].gap_ms.mean()));
    }
    return demands;
  }
  std::vector<ClassDemand> RecentDemands() {
    std::vector<ClassDemand> demands;
    for (size_t k = 0; k < kClassCount; ++k) {
      const auto arrived = static_cast<double>(std::exchange(streams_[k].arrived_count, 0));
      demands.push_back(DemandOf(k, arrived / ToSeconds(kServerPartitioningInterval)));
    }
    return demands;
  }

  // Chooses among the servers that a client knows.
  void Divide(const std::vector<ClassDemand>& demands) {
    std::vector<NodeId> servers;
    const auto view = cluster_.client(0).View();
    for (const neptune::Replica& one : view->Replicas(kWork, neptune::PartitionId(0))) {
      servers.push_back(one.node);
    }
    partition_ = PartitionServers(AllocateServers(demands, servers.size()), servers, partition_);
  }

  // The servers that a request of the class must avoid.
  std::vector<NodeId> NotFor(size_t service_class) {
    const std::vector<NodeId>& mine =
        partition_.ServersFor(static_cast<ClassNumber>(service_class), chance_.Uniform());
    std::vector<NodeId> others;
    std::copy_if(
        all_servers_.begin(), all_servers_.end(), std::back_inserter(others),
        [&](const NodeId& one) { return std::find(mine.begin(), mine.end(), one) == mine.end(); });
    return others;
  }

  SimCluster& cluster_;
  const ClassRun& run_;
  const TimePoint began_;
  neptune::RandomSource chance_;
  std::vector<Stream> streams_;
  std::vector<NodeId> all_servers_;
  ServerPartition partition_;
  uint64_t offered_count_ = 0;
  uint64_t ended_count_ = 0;
  std::vector<ClassOutcome> outcomes_;
};

// The arrivals, and their realized yield.
struct Sum {
  double offered = 0;
  double completed = 0;
  double response_ms = 0;  // of the completed

  void Add(const ClassOutcome& outcome) {
    ++offered;
    if (!outcome.in_time) return;
    ++completed;
    response_ms += ToMillis(outcome.response);
  }
  double CompletedPercent() const { return offered == 0 ? 0 : 100 * completed / offered; }
  double MeanMs() const { return completed == 0 ? 0 : response_ms / completed; }
};

}  // namespace

double FullYieldOf(size_t service_class) { return kFullYields[service_class]; }

double ServiceMeanOf(const std::string& workload, size_t service_class) {
  return WorkloadOf(workload).classes[service_class].service.mean();
}

std::vector<ClassOutcome> RunClasses(const ClassRun& run, uint64_t seed) {
  SimCluster cluster(ClusterOf(run, seed));
  const neptune::Status scheduled = cluster.Schedule(run.script);
  CHECK(scheduled.ok()) << scheduled;
  return ClassLoad(cluster, run, seed).Run();
}

Measurement MeasureClasses(const ClassRun& run, uint64_t seed) {
  Sum all;
  Sum high;  // all but the last class
  Sum of_class[kClassCount];
  double offered = 0;
  double realized = 0;
  for (const ClassOutcome& outcome : RunClasses(run, seed)) {
    all.Add(outcome);
    if (outcome.service_class + 1 < kClassCount) high.Add(outcome);
    of_class[outcome.service_class].Add(outcome);
    offered += kFullYields[outcome.service_class];
    realized += outcome.yield;
  }
  Measurement measured = {{"loss_percent", 100 * (offered - realized) / offered},
                          {"completed_percent", all.CompletedPercent()},
                          {"high_completed_percent", high.CompletedPercent()},
                          {"response_ms", all.MeanMs()},
                          {"realized_percent", 100 * realized / offered}};
  for (size_t k = 0; k < kClassCount; ++k) {
    const std::string name = kClassNames[k];
    measured[name + "_completed_percent"] = of_class[k].CompletedPercent();
    measured[name + "_response_ms"] = of_class[k].MeanMs();
  }
  return measured;
}

}  // namespace search::lab
