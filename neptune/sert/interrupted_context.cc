#include "neptune/sert/interrupted_context.h"

#include <signal.h>
#include <sys/mman.h>

namespace neptune::sert {

#if defined(__x86_64__)
namespace {
// Bytes below the stack pointer that a leaf function may use (System V ABI).
constexpr uintptr_t kRedZone = 128;
}  // namespace

const void* CodeAt(const ucontext_t& context) {
  return reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RIP]);
}

uintptr_t StackAt(const ucontext_t& context) {
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
}

void GoOnIn(ucontext_t* context, void (*function)()) {
  constexpr greg_t kDirectionFlag = 0x400;
  greg_t* const registers = context->uc_mcontext.gregs;
  const uintptr_t stack = ((StackAt(*context) - kRedZone) & ~uintptr_t{15}) - sizeof(void*);
  *reinterpret_cast<void**>(stack) = nullptr;
  registers[REG_RSP] = static_cast<greg_t>(stack);
  registers[REG_RIP] = reinterpret_cast<greg_t>(function);
  registers[REG_EFL] &= ~kDirectionFlag;
}
#else
#error "interrupted_context supports x86-64 only"
#endif

void* GiveAlternateStack() {
  stack_t present{};
  if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0) return nullptr;
  void* const at = mmap(nullptr, kAlternateStackSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  const stack_t stack = {.ss_sp = at, .ss_flags = 0, .ss_size = kAlternateStackSize};
  if (sigaltstack(&stack, nullptr) == 0) return at;
  munmap(at, kAlternateStackSize);
  return nullptr;
}

void AdoptAlternateStack(void* stack) {
  if (stack == nullptr) return;
  const stack_t none = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
  munmap(stack, kAlternateStackSize);
}

}  // namespace neptune::sert
