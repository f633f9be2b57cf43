// Cuts, scales and merges traces in a streaming fashion.
//
// Source: [Shen02] 4.5.1 (intervals are scaled to reach a demand).
// Threads: pure function of its readers.
// Errors: those of the readers and of `take`.
// Limits: one record of each input in memory.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "neptune/base/status.h"
#include "tools/trace/trace_file.h"
#include "tools/trace/trace_generator.h"

namespace search::tools {

struct TraceEdit {
  // Keeps the requests in [from_us, to_us) of each input; `from_us` becomes time 0.
  uint64_t from_us = 0;
  uint64_t to_us = UINT64_MAX;
  // Divisor of times: 2 doubles the rate. Must be above 0.
  double speed = 1;
};

// Calls `take` with the edited records of all inputs in order of time; on equal times the earlier
// input comes first.
neptune::Status EditTraces(const std::vector<std::unique_ptr<TraceReader>>& inputs,
                           const TraceEdit& edit, const RecordHandler& take);

}  // namespace search::tools
