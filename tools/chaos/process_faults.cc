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

Status ProcessFaults::Set(const Fault& fault, bool begins) {
  if (!Supports(fault.kind)) return neptune::Unimplemented("causing ", fault.ToString());
  const auto found = nodes_.find(*fault.hosts.begin());
  if (found == nodes_.end()) {
    return neptune::InvalidArgument("'", fault.ToString(), "' is of no node of this cluster");
  }
  ServerProcess& process = *found->second.process;
  switch (fault.kind) {
    case Kind::kIsolate:
      return hosts_->SetLink(found->second.host, !begins);
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
