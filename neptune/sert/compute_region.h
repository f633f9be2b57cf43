// A pure computation in a request that can be interrupted between any two of its instructions, for
// code that never polls for cancellation.
//
//   ComputeRegion region;
//   region.Run([&](ComputeMemory& memory) { ... }) ──────► true: the body completed
//                 ▲           │   ▲ signal, for this run only, on its kernel thread
//                 │           │   └── Interrupt() by another kernel thread
//                 └── false ◄─┘ the memory of `memory` is released
//
// An interrupted run abandons the stack frames of the body without running their destructors. In
// the body
//   allowed     arithmetic, reading existing objects, writing to plain objects of the caller, which
//               may be left half written; containers over `memory` (std::pmr); calls within Outside
//   forbidden   parking, after which another run on the kernel thread is a bug; callbacks from a
//               library; except in Outside: other memory, locks, descriptors, counted references
//   leaks       an exception that is being thrown when the run is interrupted
//
// A run is interrupted only in code of the library, or program, that contains its body. It is not
// interrupted inside its memory's functions, an Outside, or another library; while a LeafMutex is
// held; while another user-level thread or an event handler runs; or while an exception of the body
// is in flight or handled. The interrupt is then deferred to the end of an Outside or of a function
// of its memory, or to the next interrupt.
//
// Departs from source: only a region of a handler ends early, because a handler's own frames refer
//   to the runtime's objects. The handler continues after Run and answers with its partial result.
// Threads: Run on one kernel thread at a time, also on a user-level thread; Interrupt on any thread
//   during the lifetime of the region.
// Errors: a nested run, or one with a LeafMutex held, is a bug. If no signal is free, and under
//   ThreadSanitizer, which delays signals, Run returns only when the body does.
// Limits: regions do not nest; libraries as CodeRanges.

#pragma once

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <memory_resource>

#include "neptune/sert/request_arena.h"

namespace neptune {

class ComputeRegion;
class UserThread;

// The memory of a run; released when the run is interrupted, otherwise with the region.
class ComputeMemory final : public std::pmr::memory_resource {
 public:
  explicit ComputeMemory(ComputeRegion& region);
  // Size of live allocations.
  size_t held_size() const { return arena_.held_size(); }

 private:
  friend class ComputeRegion;
  void* do_allocate(size_t size, size_t alignment) override;
  void do_deallocate(void* object, size_t size, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  ComputeRegion& region_;
  RequestArena arena_;
};

class ComputeRegion {
 public:
  ComputeRegion() = default;
  ComputeRegion(const ComputeRegion&) = delete;
  ComputeRegion& operator=(const ComputeRegion&) = delete;

  // Runs the body; returns false if it was interrupted. Exceptions of the body propagate. REQUIRES:
  // see above.
  template <typename Body>
  bool Run(Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    return RunErased(&CallBody<Plain>, const_cast<void*>(static_cast<const void*>(&body)));
  }
  // Interrupts the run; has no effect if none is running, or while the signal of an earlier call
  // for this run has not arrived yet.
  void Interrupt();

  // While it exists, the body may perform otherwise forbidden operations and is not interrupted.
  // REQUIRES: on the thread that runs the body, or on a thread without a run.
  class Outside {
   public:
    Outside();
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    ComputeRegion* const region_;
  };

  // For tests: an interrupt is pending.
  bool asked() const { return asked_ != 0; }

 private:
  friend class ComputeMemory;
  friend struct ComputeSignal;
  using ErasedBody = void (*)(void* body, ComputeMemory& memory);

  template <typename Body>
  static void CallBody(void* body, ComputeMemory& memory) {
    (*static_cast<Body*>(body))(memory);
  }

  // Not inlined, because an interrupted run jumps back to its frame.
  __attribute__((noinline)) bool RunErased(ErasedBody body, void* argument);
  void Begin();
  void End();
  void Enter();
  void Leave();
  // True if the run may be interrupted now. Called in the signal handler and in Leave.
  bool MayBeTaken() const;

  ComputeMemory memory_{*this};
  std::atomic<uint64_t> run_{0};        // number of the run, unique in the process; 0: none
  std::atomic<uint64_t> signalled_{0};  // run whose signal is on its way; 0: none
  std::atomic<int> thread_id_{0};
  volatile sig_atomic_t depth_ = 0;  // nesting of uninterruptible sections
  volatile sig_atomic_t asked_ = 0;
  const UserThread* owner_ = nullptr;  // null: a plain kernel thread
  // The thread's exceptions at the start of the run: handled ones, and the number of exceptions in
  // flight.
  void* handled_exceptions_ = nullptr;
  unsigned thrown_count_ = 0;
  jmp_buf back_;
};

}  // namespace neptune
