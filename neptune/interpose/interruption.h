// What ends a wait of a user-level thread before its time: a signal, where threads have signals of their own.
//
// Source: POSIX (EINTR, SA_RESTART).
// Threads: SetInterruptionSource once, before the first wait; ConsumeInterruption on a user-level thread.

#pragma once

namespace neptune::interpose {

enum class Interruption {
  kNone,
  kRestart,  // something was handled; calls that can go on do
  kEnd,      // the call ends with EINTR
};

// Who interrupts wakes the thread; whoever waits then asks the source, which handles what there is.
using InterruptionSource = Interruption (*)();
void SetInterruptionSource(InterruptionSource source);

// kNone without a source.
Interruption ConsumeInterruption();

}  // namespace neptune::interpose
