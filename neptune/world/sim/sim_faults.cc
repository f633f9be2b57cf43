#include "neptune/world/sim/sim_faults.h"

#include <glog/logging.h>

namespace neptune {
namespace {

using Kind = Fault::Kind;

constexpr uint64_t kFaultStream = uint64_t{2} << 40;  // beside those of hosts and of the script

bool IsCut(Kind kind) {
  return kind == Kind::kIsolate || TraitsOf(kind).scope == FaultScope::kSides;
}

}  // namespace

SimFaultTarget::SimFaultTarget(Simulator& simulator)
    : simulator_(simulator), random_(DeriveSeed(simulator.seed(), kFaultStream)) {}

bool SimFaultTarget::Supports(Kind kind) const {
  const FaultNeeds needs = TraitsOf(kind).needs;
  return needs == FaultNeeds::kHost || needs == FaultNeeds::kStorage;
}

Status SimFaultTarget::Begin(const Fault& fault) {
  if (!Supports(fault.kind)) return Unimplemented("simulating ", fault.ToString());
  ++counts_[fault.kind].begun;
  before_[{fault.kind, fault.hosts, fault.others}] = Measure(fault);
  Set(fault, /*begins=*/true);
  return OkStatus();
}

Status SimFaultTarget::End(const Fault& fault) {
  if (!Supports(fault.kind)) return Unimplemented("simulating ", fault.ToString());
  const auto before = before_.extract({fault.kind, fault.hosts, fault.others});
  if (!before.empty() && Measure(fault) > before.mapped()) ++counts_[fault.kind].effective;
  Set(fault, /*begins=*/false);
  return OkStatus();
}

void SimFaultTarget::Set(const Fault& fault, bool begins) {
  if (IsCut(fault.kind)) return begins ? BeginCut(fault) : EndCut(fault);
  const FaultTraits& traits = TraitsOf(fault.kind);
  if (traits.scope == FaultScope::kNetwork) return SetLinks(fault, begins);
  return traits.needs == FaultNeeds::kStorage ? SetStorage(fault, begins) : SetHost(fault, begins);
}

void SimFaultTarget::SetHost(const Fault& fault, bool begins) {
  const std::string& host = *fault.hosts.begin();
  switch (fault.kind) {
    case Kind::kCrash:
      if (!begins) return simulator_.Restart(host);
      done_count_ += simulator_.host(host).running() ? 1 : 0;
      return simulator_.Crash(host, fault.amount > 0 ? CrashKind::kProcess : CrashKind::kMachine);
    case Kind::kPause:
      return begins ? simulator_.Pause(host) : simulator_.Resume(host);
    case Kind::kSlowProcessors:
      return simulator_.SlowProcessors(host, begins ? fault.amount : 1);
    case Kind::kClockOffset:
      ++done_count_;
      return simulator_.SetClockOffset(host, begins ? FromSeconds(fault.amount) : Duration(0));
    case Kind::kHungLoop:
      simulator_.host(host).SetLoopHanging(kHangingLoop, begins);
      return;
    default:
      LOG(FATAL) << fault.ToString() << " is not a fault of one host";
  }
}

void SimFaultTarget::SetStorage(const Fault& fault, bool begins) {
  const std::string& host = *fault.hosts.begin();
  SimStorage& storage = simulator_.host(host).sim_storage();
  switch (fault.kind) {
    case Kind::kFullDisk:
      storage.FailWrites(begins ? ResourceExhausted("no space left on the device") : OkStatus());
      return begins || fault.amount <= 0 ? void() : simulator_.Restart(host);
    case Kind::kSlowFlush:
      return storage.disk_faults().DelayFlushes(begins ? FromSeconds(fault.amount) : Duration(0));
    case Kind::kReadErrors:
      storage.disk_faults().FailReadsAtRandom(begins ? fault.amount : 0, random_.Next());
      return begins ? void() : simulator_.Restart(host);
    case Kind::kDescriptorLimit:
      storage.FailOpens(begins ? Unavailable("too many open files") : OkStatus());
      return begins ? simulator_.Restart(host) : void();
    case Kind::kBitFlip:
      if (!begins) return fault.amount > 0 ? void() : EndDown(host);
      if (fault.amount <= 0) simulator_.Crash(host, CrashKind::kProcess);
      done_count_ += storage.DamageSomething(random_).has_value() ? 1 : 0;
      return;
    case Kind::kCrashInFlush:
      return begins ? BeginCrashInFlush(host) : EndDown(host);
    default:
      LOG(FATAL) << fault.ToString() << " is not a fault of a disk";
  }
}

void SimFaultTarget::BeginCrashInFlush(const std::string& host) {
  simulator_.host(host).sim_storage().disk_faults().CrashInNextFlush([this, host] {
    // Not from the code that flushes, which is on the host.
    simulator_.At(simulator_.now(), [&simulator = simulator_, host] { simulator.Crash(host); });
  });
}

// A host that has flushed nothing loses its power now.
void SimFaultTarget::EndDown(const std::string& host) {
  simulator_.Crash(host);
  simulator_.Restart(host);
}

uint64_t SimFaultTarget::Measure(const Fault& fault) {
  if (TraitsOf(fault.kind).scope != FaultScope::kHost) return MeasureLinks(fault.kind);
  return MeasureHost(fault);
}

uint64_t SimFaultTarget::MeasureHost(const Fault& fault) {
  SimWorld& host = simulator_.host(*fault.hosts.begin());
  const SimDiskFaults::Counts& disk = host.sim_storage().disk_faults().counts();
  switch (fault.kind) {
    case Kind::kPause:
      return host.state().deferred.size();
    case Kind::kHungLoop:
      return host.WaitingAt(kHangingLoop);
    case Kind::kSlowProcessors:
      return static_cast<uint64_t>(host.sim_processors().consumed().count());
    case Kind::kIsolate:
      return MeasureLinks(fault.kind);
    case Kind::kFullDisk:
      return disk.refused_writes;
    case Kind::kSlowFlush:
      return disk.delayed_flushes;
    case Kind::kReadErrors:
      return disk.failed_reads;
    case Kind::kDescriptorLimit:
      return disk.refused_opens;
    case Kind::kCrashInFlush:
      return disk.torn_flushes;
    default:  // crashes, flips and moved clocks
      return done_count_;
  }
}

uint64_t SimFaultTarget::MeasureLinks(Kind kind) {
  const LinkCounts& counts = simulator_.link_counts();
  switch (kind) {
    case Kind::kLatency:
      return counts.slowed;
    case Kind::kDatagramLoss:
    case Kind::kStreamLoss:
    case Kind::kLossOneWay:
      return counts.lost;
    case Kind::kDatagramDuplication:
      return counts.duplicated;
    case Kind::kDatagramReordering:
      return counts.reordered;
    default:
      return counts.blocked;
  }
}

void SimFaultTarget::BeginCut(const Fault& fault) {
  std::set<std::string> others = fault.others;
  if (fault.kind == Kind::kIsolate) {
    for (const std::string& host : simulator_.host_names()) {
      if (!fault.hosts.contains(host)) others.insert(host);
    }
  }
  cuts_[{fault.kind, fault.hosts, fault.others}] =
      fault.kind == Kind::kLossOneWay
          ? simulator_.LoseOneWay(fault.hosts, others, fault.amount)
          : simulator_.Partition(fault.hosts, others, fault.kind != Kind::kCutOneWay);
}

void SimFaultTarget::EndCut(const Fault& fault) {
  const auto cut = cuts_.find({fault.kind, fault.hosts, fault.others});
  if (cut == cuts_.end()) return;
  simulator_.Heal(cut->second);
  cuts_.erase(cut);
}

void SimFaultTarget::SetLinks(const Fault& fault, bool begins) {
  LinkConditions conditions = simulator_.links();
  const double probability = begins ? fault.amount : 0;
  switch (fault.kind) {
    case Kind::kLatency:
      conditions.latency_factor = begins ? fault.amount : 1;
      break;
    case Kind::kDatagramLoss:
      conditions.datagram_loss = probability;
      break;
    case Kind::kDatagramDuplication:
      conditions.datagram_duplicate = probability;
      break;
    case Kind::kDatagramReordering:
      conditions.datagram_reorder = probability;
      break;
    case Kind::kStreamLoss:
      conditions.stream_loss = probability;
      break;
    default:
      LOG(FATAL) << fault.ToString() << " is not a fault of all links";
  }
  simulator_.SetLinks(conditions);
}

void ScheduleFaults(Simulator& simulator, const std::shared_ptr<FaultTarget>& target,
                    const FaultSchedule& schedule) {
  const Status supported = CheckSupported(*target, schedule);
  CHECK(supported.ok()) << supported;
  for (const FaultChange& change : ChangesOf(schedule)) {
    simulator.At(change.at, [target, change] {
      VLOG(1) << (change.begins ? "fault: " : "end of fault: ") << change.fault.ToString();
      const Status status = target->Apply(change);
      CHECK(status.ok()) << status;
    });
  }
}

void ScheduleFaults(Simulator& simulator, const FaultSchedule& schedule) {
  ScheduleFaults(simulator, std::make_shared<SimFaultTarget>(simulator), schedule);
}

}  // namespace neptune
