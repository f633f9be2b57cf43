// A place for the reductions of one aggregation that replaces the usual ones: the loop for short
// operators, the service's pool for long ones.
//
// The thread that ran a local operator visits the place before it leaves the pool. A place that
// keeps the thread is a server whose threads wait for their children; the experiments compare such
// servers with the runtime, whose nodes have no place of this kind.
//
// Source: [Chu03] 5.4 (the baseline of multi-threaded aggregation).
// Threads: OnLocalServed on the threads of local operators, the rest on the aggregation's loop.

#pragma once

#include <functional>
#include <memory>

#include "neptune/world/loop.h"

namespace neptune {

class ReductionPlace {
 public:
  virtual ~ReductionPlace() = default;
  // Called on the thread that ran a local operator, after its answer was sent. The thread still
  // holds its slot of the pool and may wait here.
  virtual void OnLocalServed() = 0;
  // True if a thread has come. Without one, and without local operators that may still bring one,
  // reductions run at the usual place.
  virtual bool is_open() const = 0;
  // Runs a reduction later, on any thread. At most one is given at a time.
  virtual void Run(Task reduction) = 0;
  // The aggregation has ended or is gone; threads must leave. Idempotent.
  virtual void Close() = 0;
};

// Makes the place of one aggregation that has own partitions. Empty: the usual places.
using MakeReductionPlace = std::function<std::shared_ptr<ReductionPlace>()>;

}  // namespace neptune
