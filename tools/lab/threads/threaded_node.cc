#include "tools/lab/threads/threaded_node.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/node/node.h"
#include "neptune/service/client.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/simulator.h"
#include "tools/workload/work_module.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::FromSeconds;
using neptune::Node;
using neptune::StrAppend;
using neptune::StrCat;
using neptune::TimePoint;

// Long enough for the first announcements to arrive, and for no request to time out.
constexpr Duration kStartTime = std::chrono::milliseconds(500);
constexpr Duration kTimeout = std::chrono::hours(1);

std::string ClassName(size_t number) { return StrCat("c", number); }

neptune::StatusOr<neptune::ClusterSpec> SpecOf(const ThreadedRun& run) {
  std::string classes;
  std::string threads;
  int concurrency = 0;
  for (size_t i = 0; i < run.classes.size(); ++i) {
    const ThreadedClass& one = run.classes[i];
    StrAppend(&classes, " service_classes { name: '", ClassName(i),
              "' queue_length_max: ", std::max(1, one.queue_length_max), " }");
    StrAppend(&threads, " threads { service_class: '", ClassName(i), "' count: ", one.thread_count,
              " }");
    concurrency += one.thread_count;
  }
  return neptune::ParseClusterSpec(
      StrCat("name: 'lab' multicast_group: '239.192.7.1:7400' balancing: 'random'", classes,
             " services { name: 'work' module: 'work' concurrency: ", concurrency, threads,
             " } services { name: 'idle' module: 'work' }"
             " nodes { name: 'server' hosts { service: 'work' } }"
             " nodes { name: 'client' hosts { service: 'idle' } }"),
      "lab");
}

// Requests of one class from the client's node.
class ClassFromClient {
 public:
  ClassFromClient(neptune::Simulator& simulator, Node& client, std::string name,
                  const ThreadedClass& options)
      : simulator_(simulator),
        client_(client),
        name_(std::move(name)),
        options_(options),
        random_(simulator.random().Next()) {}

  void Start(TimePoint measured_from) {
    measured_from_ = measured_from;
    if (options_.arrival_rate > 0) return PlanArrival(simulator_.now());
    // An equal number waits, so that no thread waits for the network.
    for (int i = 0; i < 2 * options_.thread_count; ++i) Ask(true);
  }

  ThreadedOutcome Outcome(double length_s) const { return tally_.Outcome(length_s); }

 private:
  void PlanArrival(TimePoint after) {
    const TimePoint at = after + FromSeconds(random_.Exponential(1 / options_.arrival_rate));
    simulator_.At(at, [this, at] {
      Ask(false);
      PlanArrival(at);
    });
  }

  void Ask(bool again) {
    const Duration cost = FromSeconds(options_.service_ms.Sample(random_) / 1000);
    client_.RunOnControl([this, cost, again] {
      const TimePoint begun = neptune::this_thread::Now();
      neptune::ClientSession session(client_.client());
      session.service_class = name_;
      neptune::Data response;
      neptune::CallReport report;
      const neptune::Status status =
          neptune::Call(session,
                        {neptune::ServiceName("work"), neptune::PartitionId(0),
                         neptune::MethodName(workload::kWorkMethod), neptune::AccessMode::kRead},
                        neptune::Data(workload::WorkRequest(cost)), &response,
                        {.deadline = begun + kTimeout}, &report);
      if (status.code() == neptune::StatusCode::kCancelled) return;
      Count(begun, status, report);
      if (again) Ask(true);
    });
  }

  void Count(TimePoint begun, const neptune::Status& status, const neptune::CallReport& report) {
    if (begun < measured_from_) return;
    tally_.OnArrival();  // of those that have ended
    if (!status.ok()) return tally_.OnLost();
    tally_.OnServed(neptune::this_thread::Now() - begun, report.run_time);
  }

  neptune::Simulator& simulator_;
  Node& client_;
  const std::string name_;
  const ThreadedClass options_;
  neptune::RandomSource random_;
  TimePoint measured_from_;
  ThreadedTally tally_;
};

}  // namespace

neptune::StatusOr<std::vector<ThreadedOutcome>> RunThreadedNode(const ThreadedRun& run,
                                                                uint64_t seed) {
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::ClusterSpec spec, SpecOf(run));
  std::vector<std::unique_ptr<ClassFromClient>> classes;
  const auto make_module = [](const std::string&) {
    return std::make_unique<workload::WorkModule>();
  };
  neptune::SimulatedNodes nodes({.seed = seed,
                                 .sim = {.network = neptune::kPaperCluster},
                                 .make_options = [&](const std::string&) {
                                   return neptune::NodeOptions{
                                       .spec = spec, .modules = make_module, .with_admin = false};
                                 }});
  const auto speedup = [speedup = run.speedup](int m) { return speedup.At(m); };
  nodes.Add(
      {.name = "server", .processors = {.count = 1, .quantum = run.quantum, .speedup = speedup}});
  nodes.Add({.name = "client", .processors = {.count = 1}});
  neptune::Simulator& simulator = nodes.simulator();
  simulator.RunFor(kStartTime);
  for (size_t i = 0; i < run.classes.size(); ++i) {
    classes.push_back(std::make_unique<ClassFromClient>(simulator, nodes.node("client"),
                                                        ClassName(i), run.classes[i]));
  }
  const TimePoint measured_from = simulator.now() + FromSeconds(run.warm_up_s);
  for (const auto& one : classes) one->Start(measured_from);
  simulator.RunUntil(measured_from + FromSeconds(run.length_s));
  std::vector<ThreadedOutcome> outcomes;
  for (const auto& one : classes) outcomes.push_back(one->Outcome(run.length_s));
  return outcomes;
}

}  // namespace search::lab
