// What faults happen to: a simulation, or a cluster of real processes.
//
// Threads: those of the implementation.
// Errors: kUnavailable the fault could not be caused; kUnimplemented its kind is not supported.

#pragma once

#include "neptune/base/status.h"
#include "neptune/world/faults/fault.h"

namespace neptune {

class FaultTarget {
 public:
  virtual ~FaultTarget() = default;

  virtual bool Supports(Fault::Kind kind) const = 0;
  // REQUIRES (both): the kind is supported, the hosts exist, and each Begin is followed by one End
  // of the same fault.
  virtual Status Begin(const Fault& fault) = 0;
  virtual Status End(const Fault& fault) = 0;

  Status Apply(const FaultChange& change) {
    return change.begins ? Begin(change.fault) : End(change.fault);
  }
};

// kUnimplemented: the first fault of a kind that the target does not support.
inline Status CheckSupported(const FaultTarget& target, const FaultSchedule& schedule) {
  for (const FaultSpan& span : schedule) {
    if (!target.Supports(span.fault.kind)) {
      return Unimplemented("this cluster cannot have the fault '", span.fault.ToString(), "'");
    }
  }
  return OkStatus();
}

}  // namespace neptune
