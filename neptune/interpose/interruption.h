// Interruption of a user-level thread's wait by a signal, if threads can receive signals.
//
// Source: POSIX (EINTR, SA_RESTART).
// Threads: SetInterruptionSource once, before the first wait; ConsumeInterruption on a user-level
//   thread.

#pragma once

namespace neptune::interpose {

enum class Interruption {
  kNone,
  kRestart,  // a signal was handled; restartable calls continue
  kEnd,      // the call ends with EINTR
};

// The interrupter wakes the thread; the woken wait calls the source, which handles pending signals.
using InterruptionSource = Interruption (*)();
void SetInterruptionSource(InterruptionSource source);

// Returns kNone without a source.
Interruption ConsumeInterruption();

}  // namespace neptune::interpose
