// Cuts, scales and merges traces as they stream by.
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
  // Requests from `from_us` to before `to_us` of each input stay; `from_us` becomes time 0.
  uint64_t from_us = 0;
  uint64_t to_us = UINT64_MAX;
  // Times are divided by it: 2 makes twice the rate. Above 0.
  double speed = 1;
};

// Calls `take` with the edited records of all inputs in order of time; of equal times the earlier
// input comes first.
neptune::Status EditTraces(const std::vector<std::unique_ptr<TraceReader>>& inputs,
                           const TraceEdit& edit, const RecordHandler& take);

}  // namespace search::tools
