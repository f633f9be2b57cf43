#include "neptune/world/sim/sim_faults.h"

#include <glog/logging.h>

namespace neptune {
namespace {

using Kind = Fault::Kind;

bool IsCut(Kind kind) {
  return kind == Kind::kIsolate || TraitsOf(kind).scope == FaultScope::kSides;
}

}  // namespace

bool SimFaultTarget::Supports(Kind kind) const {
  return kind != Kind::kLeave && kind != Kind::kHang && !TraitsOf(kind).needs_process;
}

Status SimFaultTarget::Begin(const Fault& fault) {
  if (!Supports(fault.kind)) return Unimplemented("simulating ", fault.ToString());
  if (IsCut(fault.kind)) {
    BeginCut(fault);
  } else if (TraitsOf(fault.kind).scope == FaultScope::kHost) {
    SetHost(fault, /*begins=*/true);
  } else {
    SetLinks(fault, /*begins=*/true);
  }
  return OkStatus();
}

Status SimFaultTarget::End(const Fault& fault) {
  if (!Supports(fault.kind)) return Unimplemented("simulating ", fault.ToString());
  if (IsCut(fault.kind)) {
    EndCut(fault);
  } else if (TraitsOf(fault.kind).scope == FaultScope::kHost) {
    SetHost(fault, /*begins=*/false);
  } else {
    SetLinks(fault, /*begins=*/false);
  }
  return OkStatus();
}

void SimFaultTarget::SetHost(const Fault& fault, bool begins) {
  const std::string& host = *fault.hosts.begin();
  switch (fault.kind) {
    case Kind::kCrash:
      if (!begins) return simulator_.Restart(host);
      return simulator_.Crash(host, fault.amount > 0 ? CrashKind::kProcess : CrashKind::kMachine);
    case Kind::kPause:
      return begins ? simulator_.Pause(host) : simulator_.Resume(host);
    case Kind::kFullDisk:
      simulator_.host(host).sim_storage().FailWrites(
          begins ? ResourceExhausted("no space left on the device") : OkStatus());
      if (begins) return;
      simulator_.Crash(host, CrashKind::kProcess);
      return simulator_.Restart(host);
    case Kind::kSlowProcessors:
      return simulator_.SlowProcessors(host, begins ? fault.amount : 1);
    case Kind::kClockOffset:
      return simulator_.SetClockOffset(host, begins ? FromSeconds(fault.amount) : Duration(0));
    default:
      LOG(FATAL) << fault.ToString() << " is not a fault of one host";
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
