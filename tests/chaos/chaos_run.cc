#include "tests/chaos/chaos_run.h"

#include <glog/logging.h>

#include <memory>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/world/faults/fault_draw.h"
#include "neptune/world/faults/shrink.h"
#include "tests/chaos/chaos_modules.h"
#include "tests/chaos/checks.h"
#include "tests/chaos/cluster_faults.h"

namespace neptune::chaos {
namespace {

using std::chrono::seconds;

constexpr int kServerCount = 5;
// Views are whole six periods after the last fault; callers continue until then.
constexpr TimePoint kCallsEnd = kFaultsEnd + seconds(7);
constexpr TimePoint kRunEnd = kCallsEnd + seconds(4);
constexpr int kShrinkRunsMax = 200;
const char* const kPolicies[] = {"poll", "poll", "random", "round_robin"};

std::vector<std::string> Servers() {
  std::vector<std::string> names;
  for (int i = 0; i < kServerCount; ++i) names.push_back(StrCat("s", i));
  return names;
}

// Servers and the nodes that only call.
std::vector<std::string> Nodes() {
  std::vector<std::string> names = Servers();
  names.insert(names.end(), {"c0", "c1"});
  return names;
}

ClusterSpec Spec(const std::string& policy) {
  std::string text =
      StrCat("name: 'chaos' multicast_group: '239.192.7.1:7400' balancing: '", policy,
             "' services { name: 'echo' module: 'server' partition_count: ", kPartitionCount,
             " queue_length_max: ", kQueueLengthMax, " concurrency: ", kConcurrency,
             " } services { name: 'load' module: 'caller' } ");
  for (int i = 0; i < kServerCount; ++i) {
    StrAppend(&text, "nodes { name: 's", i,
              "' hosts { service: 'echo' partitions: ", i % kPartitionCount, " } } ");
  }
  for (const char* name : {"c0", "c1"}) {
    StrAppend(&text, "nodes { name: '", name, "' hosts { service: 'load' } } ");
  }
  const StatusOr<ClusterSpec> spec = ParseClusterSpec(text, "chaos");
  CHECK(spec.ok()) << spec.status();
  return *spec;
}

class ChaosRun {
 public:
  ChaosRun(uint64_t seed, const FaultSchedule& schedule, PlantedBug bug)
      : ledger_(schedule), cluster_(Options(seed, bug)) {
    checks_.emplace(cluster_, state_, ledger_, Nodes());
    PlantInMessages(bug, simulator());
    ScheduleFaults(simulator(), std::make_shared<ClusterFaults>(cluster_, state_),
                   ledger_.schedule());
    simulator().CheckAlways([this] { checks_->AfterEvent(); });
  }

  Outcome Run() {
    RunUntil(kCallsEnd);
    state_.calling = false;
    RunUntil(kRunEnd);
    if (!violation_) checks_->AtEnd();
    return Count();
  }

 private:
  SimulatedClusterOptions Options(uint64_t seed, PlantedBug bug) {
    state_.bug = bug;
    state_.wrong = [this](const std::string& check, const std::string& what) {
      if (!violation_) violation_ = {check, simulator().now(), what};
    };
    state_.on_inserted = [this](const CallRecord& call) {
      if (checks_) checks_->AfterWrite(call);
    };
    state_.on_ended = [this](const CallRecord& call) {
      if (checks_) checks_->AfterCall(call);
    };
    SimulatedClusterOptions options;
    options.seed = seed;
    options.spec = Spec(kPolicies[seed % std::size(kPolicies)]);
    options.modules = ChaosModules(&state_);
    PlantInOptions(bug, &options);
    return options;
  }

  Simulator& simulator() { return cluster_.simulator(); }

  void RunUntil(TimePoint end) {
    simulator().RunUntilTrue([this] { return violation_.has_value(); }, end);
  }

  Outcome Count() {
    Outcome outcome = checks_->counts();
    outcome.violation = violation_;
    for (const auto& [id, call] : state_.calls.calls()) {
      ++outcome.call_count;
      if (call.ended && !call.status.ok()) ++outcome.failed_count;
    }
    outcome.event_count = simulator().event_count();
    outcome.trace_hash = simulator().trace_hash();
    return outcome;
  }

  const Ledger ledger_;
  ChaosState state_;
  std::optional<Violation> violation_;
  std::optional<Checks> checks_;  // set once all nodes know each other
  SimulatedCluster cluster_;
};

}  // namespace

std::string Violation::ToString() const {
  return StrCat(check, " at ", ToSeconds(at.time_since_epoch()), " s: ", what);
}

FaultSchedule FaultsOf(uint64_t seed) {
  RandomSource random(DeriveSeed(seed, 0));
  return DrawSwarm(random,
                   {.hosts = Nodes(),
                    .host_kinds = {{Fault::Kind::kLeave, Nodes()}, {Fault::Kind::kHang, Servers()}},
                    .begin = TimePoint(seconds(1)),
                    .end = kFaultsEnd});
}

Outcome RunChaos(uint64_t seed, const FaultSchedule& schedule, PlantedBug bug) {
  return ChaosRun(seed, schedule, bug).Run();
}

FaultSchedule Minimise(uint64_t seed, const FaultSchedule& schedule, const Violation& violation,
                       PlantedBug bug) {
  return Shrink<FaultSpan>(
      schedule,
      [&](const FaultSchedule& fewer) {
        const Outcome outcome = RunChaos(seed, fewer, bug);
        return outcome.violation && outcome.violation->check == violation.check;
      },
      kShrinkRunsMax);
}

}  // namespace neptune::chaos
