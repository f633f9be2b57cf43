// Where this process spends its processor time: the stack of whoever works, each time that the process has used another
// hundredth of a second.
//
//   ITIMER_PROF: time used by all kernel threads ─► SIGPROF to one that works ─► its frame pointers ─► a slot of its own
//
// The handler calls nothing but system calls, takes no lock and allocates nothing; words of the stack are read through the
// kernel, so that a frame pointer which is none ends the stack and not the process. It runs on the stack that it
// interrupts, a user-level thread's too, unless the kernel thread has another one for signals: a slot is what it writes to,
// so it needs some hundred bytes beside what the kernel saves. All other signals wait meanwhile: nothing jumps out of it.
//
// The real world only: the simulated one uses no processor time, its costs are a model's.
// Threads: Start and Stop on any kernel thread, one after the other. Loops leave SIGPROF unblocked for it.
// Errors: kFailedPrecondition a profile is being taken, or somebody else has the signal or its timer.
// Units: addresses of instructions; of callers, inside the call.
// Limits: kStackDepthMax frames, the innermost ones; sample_count_max samples, further ones are counted only. A function
//   without a frame of its own that is called through a pointer or from another library hides its caller; of libraries
//   that are built without frames, the innermost function is seen alone.
//   The kernel looks at the timer at its ticks: several processors at once give fewer samples than their time.
// Cost: none while nothing is sampled.

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
  // How often each stack was met; the innermost address first.
  std::map<std::vector<uintptr_t>, int64_t> stacks;
  int64_t lost_count = 0;  // beyond the limit
};

class ProcessorSampler {
 public:
  // Larger: longer profiles of more processors; half a kilobyte each, as far as it is used.
  static StatusOr<std::unique_ptr<ProcessorSampler>> Start(size_t sample_count_max = 20'000);
  // As Stop.
  ~ProcessorSampler();

  // How many so far. Any thread.
  size_t sample_count() const;
  // How many beyond the limit.
  size_t lost_count() const;
  // Ends it; nothing is written any more when it returns. Once.
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
