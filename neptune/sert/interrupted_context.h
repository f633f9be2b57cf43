// Where a signal interrupted its thread, where the thread goes on, and the stack that a handler runs on.
//
// x86-64, System V ABI.
// Threads: any; CodeAt to GoOnIn in a signal handler.

#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace neptune::sert {

inline constexpr size_t kAlternateStackSize = 64 * 1024;

const void* CodeAt(const ucontext_t& context);
uintptr_t StackAt(const ucontext_t& context);
// After the handler: as if the interrupted instruction had called `function`, which must not return.
void GoOnIn(ucontext_t* context, void (*function)());

// Gives the calling thread a stack for handlers, which may be needed where the thread's own one ends. Null: it has one,
// or there is no memory.
void* GiveAlternateStack();
// REQUIRES: on the same thread, with what that gave; null does nothing.
void AdoptAlternateStack(void* stack);

}  // namespace neptune::sert
