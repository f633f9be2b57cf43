// How often each kind of fault was caused, and how often something happened because of it: a fault
// that disturbs nothing tests nothing.
//
// Threads: values.

#pragma once

#include <cstdint>
#include <map>

#include "neptune/world/faults/fault.h"

namespace neptune {

struct FaultCount {
  uint64_t begun = 0;
  // The ones by which a write failed, a message was lost, a task had to wait etc.
  uint64_t effective = 0;
};

using FaultCounts = std::map<Fault::Kind, FaultCount>;

inline void AddTo(FaultCounts* total, const FaultCounts& more) {
  for (const auto& [kind, count] : more) {
    (*total)[kind].begun += count.begun;
    (*total)[kind].effective += count.effective;
  }
}

}  // namespace neptune
