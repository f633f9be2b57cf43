#include "tools/chaos/process_faults.h"

namespace search::chaos {

using neptune::Fault;
using neptune::OkStatus;
using neptune::Status;
using Kind = Fault::Kind;

bool ProcessFaults::Supports(Kind kind) const {
  switch (kind) {
    case Kind::kCrash:
    case Kind::kPause:
    case Kind::kFullDisk:
      return true;
    case Kind::kIsolate:
      return hosts_ != nullptr;
    default:
      return false;
  }
}

Status ProcessFaults::Check(const neptune::FaultSchedule& schedule) const {
  NEPTUNE_RETURN_IF_ERROR(CheckSupported(*this, schedule));
  std::map<std::string, Fault> active;  // by host; all supported kinds are of one host
  for (const neptune::FaultChange& change : ChangesOf(schedule)) {
    const std::string& host = *change.fault.hosts.begin();
    if (!nodes_.contains(host)) {
      return neptune::InvalidArgument("'", change.fault.ToString(),
                                      "' is of no node of this cluster");
    }
    if (!change.begins) {
      active.erase(host);
    } else if (const auto [other, is_new] = active.emplace(host, change.fault); !is_new) {
      return neptune::InvalidArgument("'", change.fault.ToString(), "' begins before '",
                                      other->second.ToString(), "' has ended");
    }
  }
  return OkStatus();
}

Status ProcessFaults::Set(const Fault& fault, bool begins) {
  if (!Supports(fault.kind)) return neptune::Unimplemented("causing ", fault.ToString());
  const auto found = nodes_.find(*fault.hosts.begin());
  if (found == nodes_.end()) {
    return neptune::InvalidArgument("'", fault.ToString(), "' is of no node of this cluster");
  }
  if (fault.kind == Kind::kIsolate) return hosts_->SetLink(found->second.host, !begins);
  ServerProcess& process = *found->second.process;
  const bool ends_crash = fault.kind == Kind::kCrash && !begins;
  if (process.lives() == ends_crash) {
    return neptune::FailedPrecondition(begins ? "begin" : "end", " of '", fault.ToString(),
                                       "': its process ", ends_crash ? "lives" : "does not live");
  }
  switch (fault.kind) {
    case Kind::kPause:
      begins ? process.Pause() : process.Resume();
      return OkStatus();
    case Kind::kCrash:
      if (!begins) return process.Start();
      process.Kill();
      return OkStatus();
    case Kind::kFullDisk:
      if (begins) return process.StarveOfDisk();
      process.Kill();
      return process.Start();
    default:
      return neptune::Unimplemented("causing ", fault.ToString());
  }
}

}  // namespace search::chaos
