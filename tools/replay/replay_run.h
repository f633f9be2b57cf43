// Replays a plan against a target in real time, and saves measurements continuously.
//
//   loop's thread: OpenLoop ─► LoadTarget        caller's thread: chunks ─► MeasurementLog, live line, events
//                     └──────── chunks of measurements ───────────────────────┘
//
// Threads: Run blocks the calling thread, which must not run a loop.
// Errors: the reason why the run ended early; the result includes the measurements up to then.
// Limits: kMeasurementCountMax requests.

#pragma once

#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/world/world.h"
#include "tools/replay/measurement_log.h"
#include "tools/replay/open_loop.h"
#include "tools/replay/target_address.h"

namespace search::tools {

struct ReplayOptions {
  TargetAddress address;
  TargetOptions target;
  OpenLoopOptions loop;
  std::vector<RunEvent> events;
  // Receives the measurements; may be null.
  MeasurementLog* log = nullptr;
  // Output of the live line; null shows nothing.
  FILE* live = nullptr;
  // Set to true by the caller to end the run; may be null.
  const std::atomic<bool>* stop = nullptr;
};

struct ReplayResult {
  std::vector<Measurement> measurements;
  neptune::Status end;           // OK: the plan was played to its end
  neptune::Status saved;         // status of the measurement log
  uint64_t held_count = 0;       // requests that waited for a connection
  double processor_seconds = 0;  // of the loop's thread during the run
  double elapsed_s = 0;
};

ReplayResult RunReplay(neptune::Loop& loop, const ReplayPlan& plan, const ReplayOptions& options);

// "  12 s of 60 s  1,000/s sent  998/s answered   p50 1.2 ms   p99 5.6 ms   12 in flight   2 lost".
std::string LiveLine(const LoadProgress& before, const LoadProgress& now, double length_s,
                     const std::vector<Measurement>& finished);

}  // namespace search::tools
