// Sampling CPU profiler: records the stack of a running thread each time the process has used
// another hundredth of a second of processor time.
//
//   ITIMER_PROF: time of all kernel threads ─► SIGPROF to a running one ─► frame pointers ─► slot
//
// The handler makes system calls only, takes no locks and does not allocate. Stack words are read
// through the kernel, so an invalid frame pointer ends the walk and not the process. It runs on the
// interrupted stack, which may be a user-level thread's, unless the kernel thread has an alternate
// signal stack. It writes to its slot, so it needs only some hundred bytes of stack in addition to
// the signal frame. All other signals are blocked meanwhile, so no handler can jump out of it.
//
// Real world only: the simulated one uses no processor time, its costs are modelled.
// Threads: Start and Stop on any kernel thread, one after the other. Loops leave SIGPROF unblocked
//   for it.
// Errors: kFailedPrecondition a profile is being taken, or other code uses the signal or its timer.
// Units: instruction addresses; for callers, an address inside the call instruction.
// Limits: kStackDepthMax innermost frames; sample_count_max samples, further ones are only counted.
//   A function without a frame that is called through a pointer or from another library hides its
//   caller; in libraries built without frame pointers only the innermost function is seen. The
//   kernel checks the timer at its ticks, so several busy processors yield fewer samples than their
//   time.
// Cost: none while no profile is taken.

#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "neptune/admin/profile/frame_walk.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

inline constexpr Duration kSamplePeriod = std::chrono::milliseconds(10);

struct ProcessorSamples {
  // Number of samples of each stack, innermost address first.
  std::map<std::vector<uintptr_t>, int64_t> stacks;
  int64_t lost_count = 0;  // samples beyond the limit
};

class ProcessorSampler {
 public:
  // Larger: longer profiles of more processors; half a kilobyte for each sample that is used.
  static StatusOr<std::unique_ptr<ProcessorSampler>> Start(size_t sample_count_max = 20'000);
  // Calls Stop if it has not been called.
  ~ProcessorSampler();

  // Number of samples so far. Any thread.
  size_t sample_count() const;
  // Number of samples beyond the limit.
  size_t lost_count() const;
  // Ends the profile; nothing is written after it returns. Call it once.
  ProcessorSamples Stop();

 private:
  struct Recorder;
  explicit ProcessorSampler(std::unique_ptr<Recorder> recorder);
  static void OnSignal(int signal, siginfo_t* info, void* context);
  void End();

  const std::unique_ptr<Recorder> recorder_;
  bool has_timer_ = false;
  bool ended_ = false;
};

}  // namespace neptune
