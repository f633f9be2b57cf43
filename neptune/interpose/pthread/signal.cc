#include "neptune/interpose/pthread/signal.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "neptune/interpose/interruption.h"
#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/pthread/thread.h"

namespace neptune::interpose {
namespace {

// 64 signals and 0.
bool IsSignal(int signal) { return signal >= 0 && signal < NSIG; }

// Sends a signal to the calling user-level thread.
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

uint64_t BitOf(int signal) { return uint64_t{1} << (signal - 1); }

bool Blocks(const PthreadThread& thread, int signal) {
  return sigismember(&thread.signal_mask, signal) == 1;
}

// Handles a signal of the calling thread.
Interruption Handle(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return Interruption::kNone;
  RaiseHere(signal);
  return (action.sa_flags & SA_RESTART) != 0 ? Interruption::kRestart : Interruption::kEnd;
}

// Handles the calling thread's pending signals that are not blocked.
Interruption HandlePending() {
  PthreadThread* const self = PthreadThread::Current();
  if (self == nullptr || self->pending_signals.load(std::memory_order_acquire) == 0) {
    return Interruption::kNone;
  }
  Interruption all = Interruption::kNone;
  for (int signal = 1; signal < NSIG; ++signal) {
    if (Blocks(*self, signal)) continue;
    if ((self->pending_signals.fetch_and(~BitOf(signal)) & BitOf(signal)) == 0) continue;
    all = std::max(all, Handle(signal));
  }
  return all;
}

int Send(PthreadThread& thread, int signal) {
  const bool is_self = &thread == PthreadThread::Current();
  if (is_self && !Blocks(thread, signal)) return RaiseHere(signal);
  thread.pending_signals.fetch_or(BitOf(signal));
  if (!is_self) thread.Interrupt();
  return 0;
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

void StartSignals() { SetInterruptionSource(&HandlePending); }

sigset_t CurrentSignalMask() {
  if (const PthreadThread* const thread = PthreadThread::Current(); thread != nullptr) {
    return thread->signal_mask;
  }
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return mask;
}

int ConsumePendingSignal(const sigset_t& set) {
  PthreadThread* const self = PthreadThread::Current();
  for (int signal = 1; self != nullptr && signal < NSIG; ++signal) {
    if (sigismember(&set, signal) != 1) continue;
    if ((self->pending_signals.fetch_and(~BitOf(signal)) & BitOf(signal)) != 0) return signal;
  }
  return 0;
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
  if (set == nullptr) return 0;
  const int error = neptune::interpose::ChangeMask(*thread, how, set);
  if (error == 0) neptune::interpose::HandlePending();
  return error;
}

NEPTUNE_PRELOAD_CALL int neptune_sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  PthreadThread* const thread = PthreadThread::Current();
  if (thread == nullptr) return sigprocmask(how, set, before);
  const int error = neptune_pthread_sigmask(how, set, before);
  if (error == 0) return 0;
  errno = error;
  return -1;
}
