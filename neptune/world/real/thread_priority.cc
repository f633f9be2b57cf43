#include "neptune/world/real/thread_priority.h"

#include <glog/logging.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace neptune {
namespace {

// Nice values relative to serving loops. The system's maximum is 19 in total.
constexpr int kControlNiceness = -5;
constexpr int kBackgroundNiceness = 10;
constexpr int kNicenessMax = 19;
// Scheduler slices; the system accepts 0.1 to 100 ms.
constexpr uint64_t kServingTurnNs = 100'000;
constexpr uint64_t kBackgroundTurnNs = 3'000'000;

// Needs a privilege (CAP_SYS_NICE, or RLIMIT_NICE); without it the loop runs like serving loops.
void BeLessNice() {
  const auto thread_id = static_cast<id_t>(syscall(SYS_gettid));
  (void)setpriority(PRIO_PROCESS, thread_id,
                    getpriority(PRIO_PROCESS, thread_id) + kControlNiceness);
}

void BeNicer() {
  const auto thread_id = static_cast<id_t>(syscall(SYS_gettid));
  const int own = getpriority(PRIO_PROCESS, thread_id);  // cannot fail: the thread exists
  const int nicer = std::min(own + kBackgroundNiceness, kNicenessMax);
  PLOG_IF(WARNING, setpriority(PRIO_PROCESS, thread_id, nicer) != 0)
      << "lowering the priority of a loop";
}

// Same layout as the kernel's sched_attr; the C library lacks it and the kernel header conflicts
// with the C library's.
struct SchedulingAttributes {
  uint32_t size;
  uint32_t policy;
  uint64_t flags;
  int32_t niceness;
  uint32_t priority;
  uint64_t runtime_ns;  // slice, for threads that are not real-time
  uint64_t deadline_ns;
  uint64_t period_ns;
};

void AskForTurns(uint64_t turn_ns) {
  SchedulingAttributes attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  attributes.runtime_ns = turn_ns;
  PLOG_IF(WARNING, syscall(SYS_sched_setattr, 0, &attributes, 0) != 0)
      << "setting a scheduler slice of " << turn_ns << " ns";
}

void StepDown(int policy) {
  sched_param parameters{};
  sched_getparam(0, &parameters);
  if (parameters.sched_priority <= sched_get_priority_min(policy)) return;
  --parameters.sched_priority;
  PLOG_IF(WARNING, sched_setparam(0, &parameters) != 0) << "lowering the priority of a loop";
}

}  // namespace

void SetThreadPriority(LoopPriority priority) {
  const bool background = priority == LoopPriority::kBackground;
  const int policy = sched_getscheduler(0);
  if (policy == SCHED_FIFO || policy == SCHED_RR) {
    if (background) StepDown(policy);
    return;
  }
  if (background) BeNicer();
  if (priority == LoopPriority::kControl) BeLessNice();
  AskForTurns(background ? kBackgroundTurnNs : kServingTurnNs);
}

}  // namespace neptune
