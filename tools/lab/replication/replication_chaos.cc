#include "tools/lab/replication/replication_chaos.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/node/node.h"
#include "neptune/node/register_module.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/faults/fault_draw.h"
#include "neptune/world/faults/shrink.h"
#include "neptune/world/sim/simulator.h"
#include "tools/chaos/nemesis_module.h"
#include "tools/history/register_history.h"
#include "tools/history/register_load.h"
#include "tools/lab/replication/replica_nemeses.h"
#include "tools/lab/replication/simulated_replicas.h"

namespace search::lab {
namespace {

using history::RegisterContents;
using history::RegisterLoad;
using history::RegisterOperation;
using neptune::Data;
using neptune::Duration;
using neptune::FaultSchedule;
using neptune::PartitionId;
using neptune::ServiceName;
using neptune::StrAppend;
using neptune::StrCat;
using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kDeviceTimeMean = milliseconds(1);
constexpr int kClientCount = 2;
constexpr int kSessionCount = 3;  // of each client
constexpr Duration kBegin = seconds(2);
// Mean pause of a session between its calls, where partitions are to rest in between.
constexpr Duration kRestingPauseMean = milliseconds(100);
constexpr Duration kRestLook = seconds(1);
// Time after the last call in which every partition must come to rest.
constexpr Duration kRestMax = seconds(30);
// Longer than the longest pause before a failed replica is opened again.
constexpr Duration kPeaceMax = seconds(75);
// Values beside the registers, in histories with small logs: members that were away take snapshots.
constexpr std::string_view kBallast = "ballast";  // how their names begin
constexpr int kBallastCount = 64;
constexpr size_t kBallastSize = 24 * 1024;
constexpr Duration kBallastPause = milliseconds(25);
constexpr size_t kVerifySizeMax = 1 << 20;
constexpr int kShrinkRunsMax = 50;
// Logs and data are read back this often, so that decay is found while a history lasts.
constexpr int kScrubSeconds = 3;
const ServiceName kService(history::kRegisterService);

bool IsWriteAnywhere(const ReplicationChaosOptions& options) {
  return options.level == "write_anywhere";
}

// In four histories of sixteen the logs keep so little that members that were away take snapshots.
bool HasSmallLogs(const ReplicationChaosOptions& options) { return options.seed / 4 % 4 == 3; }

bool HasRests(const ReplicationChaosOptions& options) {
  return !IsWriteAnywhere(options) && options.partition_count > neptune::kAwakeReplicaCountMax;
}

history::RegisterLoadOptions LoadOf(const ReplicationChaosOptions& options) {
  history::RegisterLoadOptions load{.seed = options.seed,
                                    .partition_count = options.partition_count};
  if (IsWriteAnywhere(options)) load.write_method = "Insert";
  if (HasRests(options)) load.pause_mean = kRestingPauseMean;
  return load;
}

// In one history of three all calls to the disk share a capsule with few places.
bool HasOneCapsule(const ReplicationChaosOptions& options) { return options.seed % 3 == 2; }

std::string ReplicationText(const ReplicationChaosOptions& options) {
  return StrCat(" replication { level: '", options.level, "'",
                IsWriteAnywhere(options) ? "" : " witness: 'w'",
                HasSmallLogs(options) ? " log_entries_kept: 20 log_size_max_mib: 1" : "",
                " scrub_seconds: ", kScrubSeconds, " } ");
}

std::string SpecText(const ReplicationChaosOptions& options) {
  std::string text = StrCat(
      "name: 'chaos' multicast_group: '239.192.7.1:7400' services { name: 'registers' module: "
      "'registers' partition_count: ",
      options.partition_count, ReplicationText(options), " } services { name: '",
      chaos::kNemesisService, "' module: 'nemesis' } services { name: 'idle' module: 'idle' } ",
      "nodes { name: 'w' hosts { service: 'idle' } } ");
  if (HasOneCapsule(options)) {
    StrAppend(&text, "capsules { name: 'replicas' match: 'disk:/neptune/replication/**' ",
              "resident_count_max: 8 processing_count_max: 2 timeout_ms: 500 } ");
  }
  for (int i = 0; i < options.replica_count; ++i) {
    StrAppend(&text, "nodes { name: '", SimulatedReplicas::NameOf(i),
              "' memory_budget_mib: 64 hosts { service: 'registers' } hosts { service: '",
              chaos::kNemesisService, "' } } ");
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
        load_(LoadOf(options)),
        nodes_({.seed = options.seed,
                .make_options = [this](const std::string&) { return MakeOptions(); },
                .on_start = [this](const std::string& name,
                                   const neptune::Status& status) { HandleStart(name, status); }}) {
    const auto spec = neptune::ParseClusterSpec(SpecText(options), "chaos");
    CHECK(spec.ok()) << spec.status();
    spec_ = *spec;
    nodes_.AddAll(spec_);
    nemeses_ = std::make_shared<ReplicaNemeses>(
        nodes_, [this](const std::string& host) { return MayDamage(host); });
  }

  ReplicationChaosResult Run() {
    simulator_.RunFor(kBegin);
    PlanFaults();
    for (int i = 0; i < kClientCount * kSessionCount; ++i) {
      load_.Begin(nodes_.node(StrCat("c", i % kClientCount)), i);
    }
    if (HasSmallLogs(options_)) WriteBallast();
    for (TimePoint look = simulator_.now(); look < TimePoint(kBegin) + options_.faults;) {
      const Duration step = std::min(kRestLook, TimePoint(kBegin) + options_.faults - look);
      simulator_.RunFor(step);
      look += step;
      if (HasRests(options_)) result_.rest_count += replicas_.CountResting();
    }
    result_.faults = nemeses_->counts();
    MeasureBlocks(TimePoint(kBegin), simulator_.now());
    AwaitPeace();
    load_.End();
    is_over_ = true;
    simulator_.RunFor(history::kRegisterTimeout + seconds(1));
    if (result_.wrong.empty() && HasRests(options_)) AwaitRest();
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
      if (module == "nemesis") return std::make_unique<chaos::NemesisModule>();
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
    neptune::RandomFaultOptions faults;
    for (int i = 0; i < options_.replica_count; ++i) {
      faults.hosts.push_back(SimulatedReplicas::NameOf(i));
    }
    faults.begin = simulator_.now();
    faults.horizon = simulator_.now() + options_.faults;
    faults.interval_mean = milliseconds(600 + 400 * (options_.seed % 5));
    faults.duration_mean = milliseconds(500 + 700 * (options_.seed % 3));
    faults.hosts_down_max = options_.servers_down_max;
    faults.kinds = ChaosKinds(options_);
    if (options_.only) faults.kinds = {*options_.only};
    // A given schedule takes the place of the drawn one; the other random numbers stay the same.
    result_.schedule = neptune::DrawFaults(random_, faults);
    if (given_schedule_ != nullptr) result_.schedule = *given_schedule_;
    neptune::ScheduleFaults(simulator_, nemeses_, result_.schedule);
  }

  // What is lost must not be lost a second time before its host has it again. At level 1 a write
  // may be on one disk only, so nothing may be lost there.
  bool MayDamage(const std::string& host) const {
    if (IsWriteAnywhere(options_)) return false;
    const std::string& before = nemeses_->damaged_host();
    return before.empty() || HasHealed(before);
  }

  bool HasHealed(const std::string& host) const {
    return !HasDamage(host) && replicas_.HasEverything(host);
  }

  bool HasDamage(const std::string& host) const {
    return nemeses_->has_latent_damage(host) || nemeses_->has_decay(host) ||
           simulator_.host(host).sim_storage().has_damage();
  }

  void WriteBallast() {
    nodes_.Spawn("c0", [this](neptune::ClientSession& client) {
      neptune::ReplicaSession session(client);
      const std::string text = std::string(kBallastSize, 'b') + ";";
      for (int i = 0; !is_over_; ++i) {
        Data response;
        (void)session.Call(
            {kService, PartitionId(static_cast<uint32_t>(i) % options_.partition_count),
             neptune::MethodName(IsWriteAnywhere(options_) ? "Insert" : "Append"),
             neptune::AccessMode::kWrite},
            Data(StrCat(kBallast, i % kBallastCount, "=", text)), &response,
            {.deadline = neptune::this_thread::Now() + history::kRegisterTimeout});
        if (neptune::this_thread::SleepFor(kBallastPause) == neptune::ParkResult::kStopping) return;
      }
    });
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

  // A start finds what is damaged in a log, and a store that is damaged as a whole.
  // What has decayed must be found by the scrub first.
  void RestartDamaged() {
    for (int server = 0; server < options_.replica_count; ++server) {
      const std::string host = SimulatedReplicas::NameOf(server);
      if (!HasDamage(host) || nemeses_->has_decay(host) || !restarted_.insert(host).second) {
        continue;
      }
      simulator_.Restart(host);
      nemeses_->NoteRestart(host);
    }
  }

  // Reads everything back where something is damaged, as the scrub does once a day.
  bool FindDamage() {
    bool is_damaged = false;
    for (int server = 0; server < options_.replica_count; ++server) {
      const std::string host = SimulatedReplicas::NameOf(server);
      if (!HasDamage(host)) continue;
      is_damaged = true;
      for (uint32_t partition = 0; partition < options_.partition_count; ++partition) {
        if (nodes_.lives(host)) VerifyAll(host, replicas_.Agent(server, partition));
      }
    }
    return is_damaged;
  }

  void VerifyAll(const std::string& host, std::shared_ptr<neptune::ReplicaAgent> agent) {
    if (agent == nullptr) return;
    nodes_.Spawn(host, [agent = std::move(agent)](neptune::ClientSession&) {
      std::optional<std::string> next = std::string();
      while (next) {
        auto part = agent->Verify(*next, kVerifySizeMax);
        next = part.ok() ? std::move(part->next) : std::nullopt;
      }
    });
  }

  void AwaitPeace() {
    const TimePoint end = simulator_.now() + kPeaceMax;
    bool is_whole = false;
    while (simulator_.now() < end && !is_whole) {
      RestartDamaged();
      simulator_.RunFor(milliseconds(500));
      is_whole = !FindDamage() && replicas_.AreWhole(IsWriteAnywhere(options_));
    }
    if (!is_whole) Wrong(StrCat("not all replicas take part again:", replicas_.Describe()));
    // Writes must succeed again.
    const size_t before = CountAcknowledged();
    simulator_.RunFor(seconds(1));
    if (CountAcknowledged() == before) Wrong("no write is acknowledged after the faults");
  }

  // Whatever has happened before, idle partitions rest.
  void AwaitRest() {
    const TimePoint end = simulator_.now() + kRestMax;
    while (simulator_.now() < end && replicas_.CountResting() < options_.partition_count) {
      simulator_.RunFor(milliseconds(500));
    }
    const size_t count = replicas_.CountResting();
    if (count == options_.partition_count) return;
    Wrong(StrCat(count, " of ", options_.partition_count,
                 " partitions rest without calls:", replicas_.Describe()));
  }

  size_t CountAcknowledged() const {
    return static_cast<size_t>(
        std::count_if(load_.history().begin(), load_.history().end(),
                      [](const RegisterOperation& o) { return o.is_write && o.is_acknowledged; }));
  }

  void CheckReplicas() {
    for (int server = 0; server < options_.replica_count; ++server) {
      for (uint32_t partition = 0; partition < options_.partition_count; ++partition) {
        const auto agent = replicas_.Agent(server, partition);
        if (agent != nullptr) {
          result_.primary_count = std::max(result_.primary_count, agent->status().epoch);
        }
      }
      for (const auto& [partition, key] : load_.Registers()) CheckReplica(server, partition, key);
      for (int i = 0; HasSmallLogs(options_) && i < kBallastCount; ++i) {
        CheckReplica(server, static_cast<uint32_t>(i) % options_.partition_count,
                     StrCat(kBallast, i));
      }
    }
  }

  void CheckReplica(int server, uint32_t partition, const std::string& key) {
    const auto agent = replicas_.Agent(server, partition);
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
                                  ? history::CheckInserts(load_.history(), WithoutBallast())
                                  : history::CheckRegisters(load_.history(), final_,
                                                            options_.level == "staleness_bounded");
    if (!wrong.empty()) Wrong(wrong);
  }

  // What the sessions whose history is checked have written.
  RegisterContents WithoutBallast() const {
    RegisterContents registers = final_;
    std::erase_if(registers, [](const auto& one) {
      return one.first.second.compare(0, kBallast.size(), kBallast) == 0;
    });
    return registers;
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
  SimulatedReplicas replicas_{nodes_, kService, options_.replica_count, options_.partition_count};
  std::shared_ptr<ReplicaNemeses> nemeses_;
  std::set<std::string> restarted_;  // after the faults
  bool is_over_ = false;
};

}  // namespace

std::vector<neptune::Fault::Kind> ChaosKinds(const ReplicationChaosOptions& options) {
  neptune::SimulatedNodes nodes({.seed = 1});
  std::vector<neptune::Fault::Kind> kinds =
      neptune::NemesisKinds(ReplicaNemeses(nodes, [](const std::string&) { return false; }));
  if (IsWriteAnywhere(options)) {
    std::erase_if(kinds, [](neptune::Fault::Kind kind) { return TraitsOf(kind).may_damage(); });
  }
  return kinds;
}

void ChooseFaults(ReplicationChaosOptions* options) {
  const bool has_rests = !IsWriteAnywhere(*options) && options->seed / 8 % 8 == 2;
  if (has_rests) options->partition_count = kRestingPartitionCount;
  const bool is_mixed = options->seed / 2 % 2 == 0;
  if (is_mixed) return;
  const std::vector<neptune::Fault::Kind> drawn = ChaosKinds(*options);
  const std::set<neptune::Fault::Kind> kinds(drawn.begin(), drawn.end());
  options->only =
      *std::next(kinds.begin(), static_cast<ptrdiff_t>(options->seed / 4 % kinds.size()));
}

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
