#include "tools/lab/replication/replica_nemeses.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>

#include "neptune/base/disk_room.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_permit.h"
#include "neptune/replication/agent/replica_device.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/thread/user_thread.h"
#include "tools/chaos/nemesis_module.h"
#include "tools/history/register_load.h"

namespace search::lab {
namespace {

using neptune::Fault;
using neptune::FaultNeeds;
using neptune::OkStatus;
using neptune::Status;
using neptune::StrCat;
using Kind = Fault::Kind;
using std::chrono::milliseconds;
namespace this_thread = neptune::this_thread;

constexpr char kFloodHost[] = "flood";
constexpr size_t kHugeAnswerSize = 4u << 20;
// Threads that take places, for each lane of each of kHeldPartitionCount partitions.
constexpr int kHolderCount = 6;
constexpr int kHeldPartitionCount = 1;
constexpr uint64_t kDecayStream = uint64_t{3} << 40;  // beside those of hosts, script and faults
constexpr uint64_t kDiskSize = uint64_t{1} << 40;
constexpr std::string_view kMarkSuffix = "-mark";
constexpr neptune::Duration kHold = milliseconds(20);
constexpr neptune::Duration kHoldPause = milliseconds(2);

bool IsFlood(Kind kind) {
  return kind == Kind::kFloodShort || kind == Kind::kFloodReads || kind == Kind::kFloodLong ||
         kind == Kind::kFloodHuge;
}

// Whether the end of the fault starts the host again, which reads all of its log.
bool StartsAgain(const Fault& fault) {
  return fault.kind == Kind::kCrash || fault.kind == Kind::kCrashInFlush ||
         fault.kind == Kind::kReadErrors || (fault.kind == Kind::kBitFlip && fault.amount <= 0);
}

SimFloodOptions FloodOf(Kind kind) {
  SimFloodOptions options;
  options.service = neptune::ServiceName(chaos::kNemesisService);
  options.method = neptune::MethodName("Echo");
  options.request = "hello";
  if (kind == Kind::kFloodReads) {
    options.service = neptune::ServiceName(history::kRegisterService);
    options.method = neptune::MethodName("Get");
    options.request = "k0";
    options.in_flight = 8;
    options.is_replicated = true;
  } else if (kind == Kind::kFloodLong) {
    options.method = neptune::MethodName("Work");
    options.request = "300000";
  } else if (kind == Kind::kFloodHuge) {
    options.method = neptune::MethodName("Answer");
    options.request = StrCat(kHugeAnswerSize);
    options.connections = 4;
    options.in_flight = 4;
    options.reads = false;
  }
  return options;
}

neptune::Loop& StartFloodLoop(neptune::Simulator& simulator) {
  neptune::SimWorld& world = simulator.AddHost({.name = kFloodHost});
  const auto loop = world.StartLoop({.name = "flood"});
  CHECK(loop.ok()) << loop.status();
  return **loop;
}

}  // namespace

// Threads of a node that take the places of its replicas' capsules. They end with their node.
class ReplicaNemeses::CapsuleHold {
 public:
  explicit CapsuleHold(neptune::Node& node) {
    for (const neptune::ReplicaLane lane : neptune::kReplicaLanes) {
      for (int i = 0; i < kHolderCount * kHeldPartitionCount; ++i) {
        const std::string path = StrCat(neptune::kReplicationDevice, "/", history::kRegisterService,
                                        "/", i % kHeldPartitionCount, "/", neptune::NameOf(lane));
        node.RunOnControl([&node, path, shared = shared_] { Hold(node, path, *shared); });
      }
    }
  }
  ~CapsuleHold() { shared_->is_over = true; }
  CapsuleHold(const CapsuleHold&) = delete;
  CapsuleHold& operator=(const CapsuleHold&) = delete;

  // How often a place was taken, or refused because the capsule was full.
  uint64_t count() const { return shared_->count; }

 private:
  struct Shared {
    bool is_over = false;
    uint64_t count = 0;
  };

  static void Hold(neptune::Node& node, const std::string& path, Shared& shared) {
    while (!shared.is_over) {
      neptune::CapsulePermit permit;
      const Status entered = permit.Enter(node.capsules(), neptune::DeviceOperation{path});
      ++shared.count;
      const neptune::Duration pause = entered.ok() ? kHold : kHoldPause;
      if (this_thread::SleepFor(pause) == neptune::ParkResult::kStopping) return;
      permit.Leave(neptune::CapsuleOutcome::kDone);
    }
  }

  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

ReplicaNemeses::ReplicaNemeses(neptune::SimulatedNodes& nodes, MayDamage may_damage)
    : nodes_(nodes),
      may_damage_(std::move(may_damage)),
      hosts_(nodes.simulator()),
      flood_loop_(StartFloodLoop(nodes.simulator())),
      random_(neptune::DeriveSeed(nodes.simulator().seed(), kDecayStream)) {}

ReplicaNemeses::~ReplicaNemeses() = default;

bool ReplicaNemeses::Supports(Kind kind) const {
  return hosts_.Supports(kind) || IsFlood(kind) || kind == Kind::kFullCapsule ||
         kind == Kind::kNoRoom || kind == Kind::kLogDecay;
}

Status ReplicaNemeses::Begin(const Fault& fault) {
  if (!Supports(fault.kind)) return neptune::Unimplemented("simulating ", fault.ToString());
  const bool is_of_host = TraitsOf(fault.kind).scope == neptune::FaultScope::kHost;
  const std::string host = is_of_host ? *fault.hosts.begin() : "";
  if (TraitsOf(fault.kind).may_damage()) {
    if (!may_damage_(host)) {
      ++counts_[fault.kind].begun;
      skipped_.emplace(fault.kind, host);
      return OkStatus();
    }
    NoteDamage(fault);
  }
  if (hosts_.Supports(fault.kind)) return hosts_.Begin(fault);
  ++counts_[fault.kind].begun;
  BeginOfProgram(fault);
  return OkStatus();
}

Status ReplicaNemeses::End(const Fault& fault) {
  if (!Supports(fault.kind)) return neptune::Unimplemented("simulating ", fault.ToString());
  const bool is_of_host = TraitsOf(fault.kind).scope == neptune::FaultScope::kHost;
  if (is_of_host && skipped_.erase({fault.kind, *fault.hosts.begin()}) > 0) return OkStatus();
  if (StartsAgain(fault)) latent_.erase(*fault.hosts.begin());
  if (hosts_.Supports(fault.kind)) return hosts_.End(fault);
  EndOfProgram(fault);
  return OkStatus();
}

void ReplicaNemeses::NoteDamage(const Fault& fault) {
  damaged_host_ = *fault.hosts.begin();
  if (fault.kind == Kind::kBitFlip && fault.amount > 0) latent_.insert(damaged_host_);
}

// A node that is down has neither connections nor capsules.
void ReplicaNemeses::BeginOfProgram(const Fault& fault) {
  const std::string& host = *fault.hosts.begin();
  if (fault.kind == Kind::kLogDecay) return DecayLog(host);
  if (fault.kind == Kind::kNoRoom) {
    before_[{fault.kind, host}] = RefusedWrites(host);
    return SetRoom(fault, true);
  }
  neptune::Node* const node = nodes_.Find(host);
  if (node == nullptr) return;
  if (fault.kind == Kind::kFullCapsule) {
    holds_[{fault.kind, host}] = std::make_unique<CapsuleHold>(*node);
  } else {
    floods_[{fault.kind, host}] =
        std::make_unique<SimFlood>(flood_loop_, node->call_endpoint(), FloodOf(fault.kind));
  }
}

void ReplicaNemeses::EndOfProgram(const Fault& fault) {
  const Key key(fault.kind, *fault.hosts.begin());
  const auto before = before_.extract(key);
  if (!before.empty() && RefusedWrites(key.second) > before.mapped()) {
    ++counts_[fault.kind].effective;
  }
  if (fault.kind == Kind::kNoRoom) SetRoom(fault, false);
  const auto flood = floods_.extract(key);
  const auto hold = holds_.extract(key);
  const uint64_t count =
      (flood.empty() ? 0 : flood.mapped()->count()) + (hold.empty() ? 0 : hold.mapped()->count());
  if (count > 0) ++counts_[fault.kind].effective;
}

void ReplicaNemeses::SetRoom(const Fault& fault, bool begins) {
  neptune::SimStorage& storage = nodes_.simulator().host(*fault.hosts.begin()).sim_storage();
  if (!begins) return storage.SaySpace(std::nullopt);
  neptune::DiskRoom room;
  room.Update({.total = kDiskSize, .free = kDiskSize});
  const uint64_t free = fault.amount > 0 ? room.reserve() / 4 : room.reserve() * 3 / 4;
  storage.SaySpace(neptune::DiskSpace{.total = kDiskSize, .free = free});
}

// A changed mark is not looked for: the next sync writes it again.
void ReplicaNemeses::DecayLog(const std::string& host) {
  const auto is_segment = [](std::string_view name) { return !name.ends_with(kMarkSuffix); };
  const auto decayed =
      nodes_.simulator().host(host).sim_storage().log_files().Decay(random_, is_segment);
  if (decayed) decayed_[host].push_back(*decayed);
}

bool ReplicaNemeses::has_decay(const std::string& host) const {
  const auto found = decayed_.find(host);
  if (found == decayed_.end()) return false;
  const neptune::SimLogFiles& files = nodes_.simulator().host(host).sim_storage().log_files();
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const auto& decayed) { return files.Holds(decayed); });
}

uint64_t ReplicaNemeses::FoundDecays() const {
  uint64_t count = 0;
  for (const auto& [host, decayed] : decayed_) {
    const neptune::SimLogFiles& files = nodes_.simulator().host(host).sim_storage().log_files();
    for (const auto& one : decayed) count += files.Holds(one) ? 0 : 1;
  }
  return count;
}

uint64_t ReplicaNemeses::RefusedWrites(const std::string& host) const {
  neptune::Node* const node = nodes_.Find(host);
  neptune::Replication* const replication = node == nullptr ? nullptr : node->FindReplication();
  if (replication == nullptr || replication->environment().disk == nullptr) return 0;
  return replication->environment().disk->refused_count();
}

neptune::FaultCounts ReplicaNemeses::counts() const {
  neptune::FaultCounts all = counts_;
  if (!decayed_.empty()) all[Kind::kLogDecay].effective = FoundDecays();
  AddTo(&all, hosts_.counts());
  return all;
}

}  // namespace search::lab
