#include "neptune/capsule/interpose/pthread/signal.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>

#include "neptune/capsule/interpose/preload/call_names.h"
#include "neptune/capsule/interpose/pthread/thread.h"

namespace neptune::interpose {
namespace {

bool IsSignal(int signal) { return signal >= 0 && signal < NSIG; }

// To the calling user-level thread.
int RaiseHere(int signal) {
  sigset_t one;
  sigset_t before;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, &before);
  const int result = raise(signal);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result == 0 ? 0 : errno;
}

int Send(const PthreadThread& thread, int signal) {
  if (&thread == PthreadThread::Current() && sigismember(&thread.signal_mask, signal) == 0) {
    return RaiseHere(signal);
  }
  return kill(getpid(), signal) == 0 ? 0 : errno;
}

int ChangeMask(PthreadThread& thread, int how, const sigset_t* set) {
  if (how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK) return EINVAL;
  if (how == SIG_SETMASK) {
    thread.signal_mask = *set;
    return 0;
  }
  for (int signal = 1; signal < NSIG; ++signal) {
    if (sigismember(set, signal) != 1) continue;
    how == SIG_BLOCK ? sigaddset(&thread.signal_mask, signal)
                     : sigdelset(&thread.signal_mask, signal);
  }
  return 0;
}

}  // namespace

sigset_t CurrentSignalMask() {
  if (const PthreadThread* const thread = PthreadThread::Current(); thread != nullptr) {
    return thread->signal_mask;
  }
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return mask;
}

void LetRaisedSignalsThrough() {
  sigset_t raised;
  sigemptyset(&raised);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    sigaddset(&raised, signal);
  }
  pthread_sigmask(SIG_UNBLOCK, &raised, nullptr);
}

}  // namespace neptune::interpose

using neptune::interpose::PthreadThread;

NEPTUNE_PRELOAD_CALL int neptune_pthread_kill(pthread_t thread, int signal) {
  if (!PthreadThread::IsHandle(thread)) return pthread_kill(thread, signal);
  if (!neptune::interpose::IsSignal(signal)) return EINVAL;
  const auto found = PthreadThread::Find(thread);
  if (found == nullptr) return ESRCH;
  return signal == 0 ? 0 : neptune::interpose::Send(*found, signal);
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_sigqueue(pthread_t thread, int signal, sigval value) {
  if (!PthreadThread::IsHandle(thread)) return pthread_sigqueue(thread, signal, value);
  if (!neptune::interpose::IsSignal(signal)) return EINVAL;
  if (PthreadThread::Find(thread) == nullptr) return ESRCH;
  return sigqueue(getpid(), signal, value) == 0 ? 0 : errno;
}

NEPTUNE_PRELOAD_CALL int neptune_raise(int signal) {
  PthreadThread* const thread = PthreadThread::Current();
  if (thread == nullptr) return raise(signal);
  const int error =
      neptune::interpose::IsSignal(signal) ? neptune::interpose::Send(*thread, signal) : EINVAL;
  if (error == 0) return 0;
  errno = error;
  return -1;
}

NEPTUNE_PRELOAD_CALL int neptune_pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  PthreadThread* const thread = PthreadThread::Current();
  if (thread == nullptr) return pthread_sigmask(how, set, before);
  if (before != nullptr) *before = thread->signal_mask;
  return set == nullptr ? 0 : neptune::interpose::ChangeMask(*thread, how, set);
}

NEPTUNE_PRELOAD_CALL int neptune_sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  PthreadThread* const thread = PthreadThread::Current();
  if (thread == nullptr) return sigprocmask(how, set, before);
  const int error = neptune_pthread_sigmask(how, set, before);
  if (error == 0) return 0;
  errno = error;
  return -1;
}
