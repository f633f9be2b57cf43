#include "neptune/world/real/thread_priority.h"

#include <glog/logging.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace neptune {
namespace {

// Nice values relative to serving loops. The system's maximum is 19 in total.
constexpr int kControlNiceness = -5;
constexpr int kBackgroundNiceness = 10;
constexpr int kNicenessMax = 19;
// Scheduler slices; the system accepts 0.1 to 100 ms.
constexpr uint64_t kServingTurnNs = 100'000;
constexpr uint64_t kBackgroundTurnNs = 3'000'000;
// A background thread that has stepped back keeps a quarter of the processor beside one that has
// not.
constexpr int kStepBackNiceness = 5;
constexpr uint64_t kStepBackTurnNs = 10'000'000;

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

// Sets the slice and the nice value of a thread; 0: the calling one. False: errno says why not. A
// system without the call is left as it is.
bool SetTurns(pid_t thread, uint64_t turn_ns, std::optional<int> niceness) {
  SchedulingAttributes attributes{};
  if (syscall(SYS_sched_getattr, thread, &attributes, sizeof(attributes), 0) != 0) return true;
  attributes.runtime_ns = turn_ns;
  if (niceness) attributes.niceness = *niceness;
  return syscall(SYS_sched_setattr, thread, &attributes, 0) == 0;
}

// True if the calling thread may return to its nice value from a larger one.
bool MayReturn() {
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  const int own = getpriority(PRIO_PROCESS, thread);
  return setpriority(PRIO_PROCESS, thread, own - 1) == 0 &&
         setpriority(PRIO_PROCESS, thread, own) == 0;
}

bool IsRealTime(int policy) { return policy == SCHED_FIFO || policy == SCHED_RR; }

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
  if (IsRealTime(policy)) {
    if (background) StepDown(policy);
    return;
  }
  if (background) BeNicer();
  if (priority == LoopPriority::kControl) BeLessNice();
  const uint64_t turn_ns = background ? kBackgroundTurnNs : kServingTurnNs;
  PLOG_IF(WARNING, !SetTurns(0, turn_ns, std::nullopt))
      << "setting a scheduler slice of " << turn_ns << " ns";
}

ThreadStanding ThreadStanding::OfThisThread() {
  ThreadStanding standing;
  standing.thread_ = static_cast<pid_t>(syscall(SYS_gettid));
  standing.niceness_ = getpriority(PRIO_PROCESS, static_cast<id_t>(standing.thread_));
  standing.is_fair_ = !IsRealTime(sched_getscheduler(0));
  standing.may_return_ = standing.is_fair_ && MayReturn();
  return standing;
}

void ThreadStanding::StepBack() const {
  if (!is_fair_) return;
  const int nicer = std::min(niceness_ + kStepBackNiceness, kNicenessMax);
  (void)SetTurns(thread_, kStepBackTurnNs, may_return_ ? nicer : niceness_);
}

void ThreadStanding::Return() const {
  if (is_fair_) (void)SetTurns(thread_, kBackgroundTurnNs, niceness_);
}

}  // namespace neptune
