// POSIX functions that take or return a thread; calls for libc's threads are forwarded to libc.

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/pthread/parking_lot.h"
#include "neptune/interpose/pthread/process.h"
#include "neptune/interpose/pthread/thread.h"
#include "neptune/interpose/pthread/time.h"

namespace neptune::interpose {
namespace {

int JoinUntil(pthread_t thread, clockid_t clock, const timespec* when, void** result) {
  TimePoint deadline = kNever;
  const int error = when == nullptr ? 0 : DeadlineOf(clock, *when, &deadline);
  return error != 0 ? error : JoinThread(thread, deadline, result);
}

// For operations without meaning on user-level threads, which may be ignored: 0, or ESRCH.
int CheckThread(pthread_t thread) { return PthreadThread::Find(thread) == nullptr ? ESRCH : 0; }

int DescribeThread(const PthreadThread& thread, pthread_attr_t* attributes) {
  if (const int error = pthread_attr_init(attributes); error != 0) return error;
  const Stack& stack = thread.stack().memory;
  pthread_attr_setstack(attributes, stack.low, stack.size);
  pthread_attr_setdetachstate(
      attributes, thread.detached() ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
  return 0;
}

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::CheckThread;
using neptune::interpose::PthreadThread;

NEPTUNE_PRELOAD_CALL int neptune_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                void* (*routine)(void*), void* argument) {
  if (!neptune::interpose::MakesUserThreads()) {
    return pthread_create(thread, attributes, routine, argument);
  }
  return neptune::interpose::StartThread(attributes, routine, argument, thread);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_join(pthread_t thread, void** result) {
  if (!PthreadThread::IsHandle(thread)) return pthread_join(thread, result);
  return neptune::interpose::JoinThread(thread, neptune::kNever, result);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_tryjoin_np(pthread_t thread, void** result) {
  if (!PthreadThread::IsHandle(thread)) return pthread_tryjoin_np(thread, result);
  return neptune::interpose::TryJoinThread(thread, result);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_timedjoin_np(pthread_t thread, void** result,
                                                      const timespec* when) {
  if (!PthreadThread::IsHandle(thread)) return pthread_timedjoin_np(thread, result, when);
  return neptune::interpose::JoinUntil(thread, CLOCK_REALTIME, when, result);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_clockjoin_np(pthread_t thread, void** result,
                                                      clockid_t clock, const timespec* when) {
  if (!PthreadThread::IsHandle(thread)) return pthread_clockjoin_np(thread, result, clock, when);
  return neptune::interpose::JoinUntil(thread, clock, when, result);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_detach(pthread_t thread) {
  if (!PthreadThread::IsHandle(thread)) return pthread_detach(thread);
  return neptune::interpose::DetachThread(thread);
}

NEPTUNE_PRELOAD_CALL void neptune_pthread_exit(void* result) {
  if (PthreadThread::Current() != nullptr) neptune::interpose::ExitThread(result);
  neptune::interpose::NoteKernelThreadExit();
  pthread_exit(result);
}

NEPTUNE_PRELOAD_CALL pthread_t neptune_pthread_self() {
  const PthreadThread* const thread = PthreadThread::Current();
  return thread == nullptr ? pthread_self() : thread->handle();
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_equal(pthread_t one, pthread_t other) {
  return one == other ? 1 : 0;
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_yield() { return neptune::interpose::YieldThread(); }
NEPTUNE_PRELOAD_CALL int neptune_sched_yield() { return neptune::interpose::YieldThread(); }

NEPTUNE_PRELOAD_CALL int neptune_pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  if (!PthreadThread::IsHandle(thread)) return pthread_getattr_np(thread, attributes);
  const auto found = PthreadThread::Find(thread);
  return found == nullptr ? ESRCH : neptune::interpose::DescribeThread(*found, attributes);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_getname_np(pthread_t thread, char* name, size_t size) {
  if (!PthreadThread::IsHandle(thread)) return pthread_getname_np(thread, name, size);
  const auto found = PthreadThread::Find(thread);
  if (found == nullptr) return ESRCH;
  const std::string known = found->name();
  if (size < neptune::interpose::kThreadNameSizeMax + 1) return ERANGE;
  memcpy(name, known.c_str(), known.size() + 1);
  return 0;
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_setname_np(pthread_t thread, const char* name) {
  if (!PthreadThread::IsHandle(thread)) return pthread_setname_np(thread, name);
  if (strlen(name) > neptune::interpose::kThreadNameSizeMax) return ERANGE;
  const auto found = PthreadThread::Find(thread);
  if (found == nullptr) return ESRCH;
  found->SetName(name);
  return 0;
}

// User-level threads share the processor-time clock of their kernel thread, so there is none for
// one.
NEPTUNE_PRELOAD_CALL int neptune_pthread_getcpuclockid(pthread_t thread, clockid_t* clock) {
  return PthreadThread::IsHandle(thread) ? ENOENT : pthread_getcpuclockid(thread, clock);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_getschedparam(pthread_t thread, int* policy,
                                                       sched_param* parameters) {
  if (!PthreadThread::IsHandle(thread)) return pthread_getschedparam(thread, policy, parameters);
  const auto found = PthreadThread::Find(thread);
  if (found == nullptr) return ESRCH;
  *policy = found->scheduling_policy;
  *parameters = {};
  return 0;
}

// The kernel does not know these threads, so only policies without priorities are accepted.
NEPTUNE_PRELOAD_CALL int neptune_pthread_setschedparam(pthread_t thread, int policy,
                                                       const sched_param* parameters) {
  if (!PthreadThread::IsHandle(thread)) return pthread_setschedparam(thread, policy, parameters);
  const auto found = PthreadThread::Find(thread);
  if (found == nullptr) return ESRCH;
  const bool has_priorities = policy == SCHED_FIFO || policy == SCHED_RR;
  if (has_priorities) return EPERM;
  if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE) return EINVAL;
  if (parameters->sched_priority != 0) return EINVAL;
  found->scheduling_policy = policy;
  return 0;
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_setschedprio(pthread_t thread, int priority) {
  if (!PthreadThread::IsHandle(thread)) return pthread_setschedprio(thread, priority);
  return priority == 0 ? CheckThread(thread) : EPERM;
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_getaffinity_np(pthread_t thread, size_t size,
                                                        cpu_set_t* processors) {
  if (!PthreadThread::IsHandle(thread)) return pthread_getaffinity_np(thread, size, processors);
  return sched_getaffinity(0, size, processors) == 0 ? CheckThread(thread) : errno;
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_setaffinity_np(pthread_t thread, size_t size,
                                                        const cpu_set_t* processors) {
  if (!PthreadThread::IsHandle(thread)) return pthread_setaffinity_np(thread, size, processors);
  return CheckThread(thread);  // the thread stays on its kernel thread, whose affinity is unchanged
}

// Not supported: cancellation could end a thread inside the runtime.
NEPTUNE_PRELOAD_CALL int neptune_pthread_cancel(pthread_t thread) {
  return PthreadThread::IsHandle(thread) ? ENOTSUP : pthread_cancel(thread);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_setcancelstate(int state, int* before) {
  PthreadThread* const thread = PthreadThread::Current();
  if (thread == nullptr) return pthread_setcancelstate(state, before);
  if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE) return EINVAL;
  if (before != nullptr) *before = thread->cancel_state;
  thread->cancel_state = state;
  return 0;
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_setcanceltype(int type, int* before) {
  PthreadThread* const thread = PthreadThread::Current();
  if (thread == nullptr) return pthread_setcanceltype(type, before);
  if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS) return EINVAL;
  if (before != nullptr) *before = thread->cancel_type;
  thread->cancel_type = type;
  return 0;
}

NEPTUNE_PRELOAD_CALL void neptune_pthread_testcancel() {
  if (PthreadThread::Current() == nullptr) pthread_testcancel();
}
