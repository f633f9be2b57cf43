#include "tools/lab/replication/replication_chaos.h"

#include <glog/logging.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/node/node.h"
#include "neptune/node/register_module.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/world/faults/fault_draw.h"
#include "neptune/world/faults/shrink.h"
#include "neptune/world/sim/sim_faults.h"
#include "neptune/world/sim/simulator.h"
#include "tools/history/register_history.h"
#include "tools/history/register_load.h"

namespace search::lab {
namespace {

using history::RegisterContents;
using history::RegisterLoad;
using history::RegisterOperation;
using neptune::Duration;
using neptune::FaultSchedule;
using neptune::PartitionId;
using neptune::ServiceName;
using neptune::StrAppend;
using neptune::StrCat;
using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint32_t kPartitionCount = 2;
constexpr Duration kDeviceTimeMean = milliseconds(1);
constexpr int kClientCount = 2;
constexpr int kSessionCount = 3;  // of each client
constexpr Duration kBegin = seconds(2);
constexpr Duration kPeaceMax = seconds(30);
constexpr int kShrinkRunsMax = 50;
const ServiceName kService(history::kRegisterService);

bool IsWriteAnywhere(const ReplicationChaosOptions& options) {
  return options.level == "write_anywhere";
}

std::string SpecText(const ReplicationChaosOptions& options) {
  std::string text = StrCat(
      "name: 'chaos' multicast_group: '239.192.7.1:7400' services { name: 'registers' module: "
      "'registers' partition_count: ",
      kPartitionCount, " replication { level: '", options.level, "'",
      IsWriteAnywhere(options) ? "" : " witness: 'w'", " } } ",
      "services { name: 'idle' module: 'idle' } nodes { name: 'w' hosts { service: 'idle' } } ");
  for (int i = 0; i < options.replica_count; ++i) {
    StrAppend(&text, "nodes { name: 's", i, "' hosts { service: 'registers' } } ");
  }
  for (int i = 0; i < kClientCount; ++i) {
    StrAppend(&text, "nodes { name: 'c", i, "' hosts { service: 'idle' } } ");
  }
  return text;
}

// An empty module, for nodes that only call.
class IdleModule final : public neptune::ServiceModule {
 public:
  neptune::Status Start(neptune::ModuleContext&) override { return neptune::OkStatus(); }
  std::string implementation() const override { return "idle"; }
};

class ChaosRun {
 public:
  // `schedule`: null to draw one.
  ChaosRun(const ReplicationChaosOptions& options, const FaultSchedule* schedule)
      : options_(options),
        given_schedule_(schedule),
        random_(neptune::DeriveSeed(options.seed, 1)),
        load_({.seed = options.seed,
               .partition_count = kPartitionCount,
               .write_method = IsWriteAnywhere(options) ? "Insert" : "Append"}),
        nodes_({.seed = options.seed,
                .make_options = [this](const std::string&) { return MakeOptions(); },
                .on_start = [this](const std::string& name,
                                   const neptune::Status& status) { HandleStart(name, status); }}) {
    const auto spec = neptune::ParseClusterSpec(SpecText(options), "chaos");
    CHECK(spec.ok()) << spec.status();
    spec_ = *spec;
    nodes_.AddAll(spec_);
  }

  ReplicationChaosResult Run() {
    simulator_.RunFor(kBegin);
    PlanFaults();
    for (int i = 0; i < kClientCount * kSessionCount; ++i) {
      load_.Begin(nodes_.node(StrCat("c", i % kClientCount)), i);
    }
    simulator_.RunFor(options_.faults);
    MeasureBlocks(TimePoint(kBegin), simulator_.now());
    AwaitPeace();
    load_.End();
    simulator_.RunFor(history::kRegisterTimeout + seconds(1));
    if (result_.wrong.empty()) CheckReplicas();
    if (result_.wrong.empty()) CheckHistory();
    return result_;
  }

 private:
  neptune::NodeOptions MakeOptions() {
    neptune::NodeOptions options;
    options.spec = spec_;
    options.modules = [](const std::string& module)
        -> neptune::StatusOr<std::unique_ptr<neptune::ServiceModule>> {
      if (module == "registers") return std::make_unique<neptune::RegisterModule>();
      return std::make_unique<IdleModule>();
    };
    options.with_admin = false;
    // In every other history disk operations take time, so that other events interleave with them.
    if (options_.seed % 2 == 1) {
      options.device_time = [this](std::string_view) {
        return neptune::FromSeconds(random_.Exponential(neptune::ToSeconds(kDeviceTimeMean)));
      };
    }
    return options;
  }

  void HandleStart(const std::string& name, const neptune::Status& status) {
    if (!status.ok()) Wrong(StrCat(name, " does not start: ", neptune::ToStd(status.ToString())));
  }

  void Wrong(const std::string& what) {
    if (!result_.wrong.empty()) return;
    result_.wrong = StrCat("seed ", options_.seed, ", ",
                           neptune::ToSeconds(simulator_.now().time_since_epoch()), " s: ", what);
  }

  void PlanFaults() {
    using Kind = neptune::Fault::Kind;
    neptune::RandomFaultOptions faults;
    for (int i = 0; i < options_.replica_count; ++i) faults.hosts.push_back(StrCat("s", i));
    faults.begin = simulator_.now();
    faults.horizon = simulator_.now() + options_.faults;
    faults.interval_mean = milliseconds(600 + 400 * (options_.seed % 5));
    faults.duration_mean = milliseconds(500 + 700 * (options_.seed % 3));
    faults.hosts_down_max = options_.servers_down_max;
    // Often the most harmful fault for replication.
    faults.kinds = {Kind::kCrash,      Kind::kCrash,          Kind::kCrash,
                    Kind::kPause,      Kind::kPause,          Kind::kCut,
                    Kind::kCut,        Kind::kCutOneWay,      Kind::kLossOneWay,
                    Kind::kLatency,    Kind::kSlowProcessors, Kind::kClockOffset,
                    Kind::kStreamLoss, Kind::kDatagramLoss};
    // A given schedule takes the place of the drawn one; the other random numbers stay the same.
    result_.schedule = neptune::DrawFaults(random_, faults);
    if (given_schedule_ != nullptr) result_.schedule = *given_schedule_;
    neptune::ScheduleFaults(simulator_, result_.schedule);
  }

  // The longest time without an acknowledged write.
  void MeasureBlocks(TimePoint begin, TimePoint end) {
    std::vector<TimePoint> ends = {begin, end};
    for (const RegisterOperation& operation : load_.history()) {
      if (operation.is_write && operation.is_acknowledged) ends.push_back(operation.end);
    }
    std::sort(ends.begin(), ends.end());
    for (size_t i = 1; i < ends.size(); ++i) {
      result_.longest_block_s =
          std::max(result_.longest_block_s, neptune::ToSeconds(ends[i] - ends[i - 1]));
    }
  }

  std::shared_ptr<neptune::ReplicaAgent> Agent(int server, uint32_t partition) const {
    neptune::Node* const node = nodes_.Find(StrCat("s", server));
    neptune::Replication* const replication = node == nullptr ? nullptr : node->FindReplication();
    return replication == nullptr ? nullptr : replication->Find(kService, PartitionId(partition));
  }

  bool IsWhole() {
    for (uint32_t partition = 0; partition < kPartitionCount; ++partition) {
      for (int server = 0; server < options_.replica_count; ++server) {
        const std::shared_ptr<neptune::ReplicaAgent> agent = Agent(server, partition);
        if (agent == nullptr || !agent->status().failure.ok()) return false;
        const auto state = agent->status();
        if (IsWriteAnywhere(options_)) {
          if (state.role != neptune::ReplicaRole::kPeer) return false;
          continue;
        }
        if (state.role != neptune::ReplicaRole::kPrimary &&
            state.role != neptune::ReplicaRole::kSecondary)
          return false;
        for (int member = 0; member < options_.replica_count; ++member) {
          if (!state.write_set.contains(static_cast<neptune::MemberIndex>(member))) return false;
        }
      }
    }
    return true;
  }

  std::string Describe() const {
    std::string text;
    for (uint32_t partition = 0; partition < kPartitionCount; ++partition) {
      for (int server = 0; server < options_.replica_count; ++server) {
        const std::shared_ptr<neptune::ReplicaAgent> agent = Agent(server, partition);
        StrAppend(&text, " s", server, "/", partition, " ");
        if (agent == nullptr) {
          StrAppend(&text, "is not there");
          continue;
        }
        const auto state = agent->status();
        StrAppend(&text, neptune::NameOf(state.role), " of epoch ", state.epoch, " with ",
                  state.last_lsn, " received, ", state.executed, " executed");
        if (!state.failure.ok()) StrAppend(&text, ", ", neptune::ToStd(state.failure.ToString()));
      }
    }
    return text;
  }

  void AwaitPeace() {
    const TimePoint end = simulator_.now() + kPeaceMax;
    while (simulator_.now() < end && !IsWhole()) simulator_.RunFor(milliseconds(250));
    if (!IsWhole()) Wrong(StrCat("not all replicas take part again: ", Describe()));
    // Writes must succeed again.
    const size_t before = CountAcknowledged();
    simulator_.RunFor(seconds(1));
    if (CountAcknowledged() == before) Wrong("no write is acknowledged after the faults");
  }

  size_t CountAcknowledged() const {
    return static_cast<size_t>(
        std::count_if(load_.history().begin(), load_.history().end(),
                      [](const RegisterOperation& o) { return o.is_write && o.is_acknowledged; }));
  }

  void CheckReplicas() {
    for (int server = 0; server < options_.replica_count; ++server) {
      for (uint32_t partition = 0; partition < kPartitionCount; ++partition) {
        const std::shared_ptr<neptune::ReplicaAgent> agent = Agent(server, partition);
        if (agent != nullptr) {
          result_.primary_count = std::max(result_.primary_count, agent->status().epoch);
        }
      }
      for (const auto& [partition, key] : load_.Registers()) CheckReplica(server, partition, key);
    }
  }

  void CheckReplica(int server, uint32_t partition, const std::string& key) {
    const std::shared_ptr<neptune::ReplicaAgent> agent = Agent(server, partition);
    if (agent == nullptr) return;
    const auto& state = static_cast<const neptune::StoreState&>(*agent->state());
    const auto value = state.view().Get(key);
    if (!value.ok()) {
      return Wrong(StrCat("reading s", server, ": ", neptune::ToStd(value.status().ToString())));
    }
    const auto [found, is_new] = final_.try_emplace({partition, key}, value->value_or(""));
    if (!is_new && found->second != value->value_or("")) {
      Wrong(StrCat("s", server, " has another value of ", partition, "/", key, " than s0"));
    }
  }

  void CheckHistory() {
    for (const RegisterOperation& operation : load_.history()) {
      if (operation.is_acknowledged) {
        ++(operation.is_write ? result_.acknowledged_count : result_.read_count);
      } else {
        ++result_.failed_count;
      }
    }
    const std::string wrong = IsWriteAnywhere(options_)
                                  ? history::CheckInserts(load_.history(), final_)
                                  : history::CheckRegisters(load_.history(), final_,
                                                            options_.level == "staleness_bounded");
    if (!wrong.empty()) Wrong(wrong);
  }

  const ReplicationChaosOptions options_;
  const FaultSchedule* const given_schedule_;
  neptune::RandomSource random_;
  neptune::ClusterSpec spec_;
  RegisterContents final_;
  ReplicationChaosResult result_;
  RegisterLoad load_;
  neptune::SimulatedNodes nodes_;
  neptune::Simulator& simulator_ = nodes_.simulator();
};

}  // namespace

ReplicationChaosResult RunReplicationChaos(const ReplicationChaosOptions& options) {
  return ChaosRun(options, nullptr).Run();
}

FaultSchedule Minimise(const ReplicationChaosOptions& options, const FaultSchedule& schedule) {
  return neptune::Shrink<neptune::FaultSpan>(
      schedule,
      [&](const FaultSchedule& fewer) { return !ChaosRun(options, &fewer).Run().wrong.empty(); },
      kShrinkRunsMax);
}

}  // namespace search::lab
