// Runs the reduce operator of one task: measures its cost, converts its exceptions to errors, and
// repeats a sample of reductions in the other order.
//
// Source: [Chu03] 3.1 (the operator is commutative and associative), 4.5 (1) (its cost).
// Threads: thread-safe; Run on a loop or on one of its user-level threads.
// Errors: those of the operator; kInternal it threw, or its result depends on the operand order.

#pragma once

#include <atomic>
#include <cstdint>

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/dac/cost_meter.h"
#include "neptune/dac/node_task.h"
#include "neptune/service/data.h"

namespace neptune {

// The sample of a node's reductions that is repeated in the other order and must give the same
// bytes.
struct OrderCheck {
  uint32_t one_in = 0;  // 0: none
  Counter* errors = nullptr;
  std::atomic<uint32_t> count{0};

  bool IsDue() { return one_in != 0 && count.fetch_add(1) % one_in == 0; }
};

class Reducer {
 public:
  // All arguments outlive the reducer.
  Reducer(const NodeTask& task, CostMeter& costs, OrderCheck& check);

  struct Reduced {
    StatusOr<Data> combined;
    Duration took{0};
  };
  Reduced Run(const Data& first, const Data& second);
  // The same without times and costs.
  StatusOr<Data> Combine(const Data& first, const Data& second) const;
  // Errors: kInternal the other order does not give `combined`.
  Status CheckOrder(const Data& first, const Data& second, const Data& combined);

 private:
  const NodeTask& task_;
  const Data parameters_;
  CostMeter& costs_;
  OrderCheck& check_;
};

}  // namespace neptune
