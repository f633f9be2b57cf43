// Access to an interrupted thread's context in a signal handler, and alternate signal stacks.
//
// x86-64, System V ABI.
// Threads: any; CodeAt to GoOnIn are for signal handlers.

#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace neptune::sert {

inline constexpr size_t kAlternateStackSize = 64 * 1024;

const void* CodeAt(const ucontext_t& context);
uintptr_t StackAt(const ucontext_t& context);
// Makes the thread continue, after the handler, as if the interrupted instruction had called
// `function`, which must not return.
void GoOnIn(ucontext_t* context, void (*function)());

// Installs an alternate signal stack for the calling thread, in case the thread's own stack
// overflows. Returns null if it has one already, or if there is no memory.
void* GiveAlternateStack();
// Removes and frees the stack. REQUIRES: on the same thread, with the result of GiveAlternateStack;
// null is ignored.
void AdoptAlternateStack(void* stack);

}  // namespace neptune::sert
