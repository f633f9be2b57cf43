// A part of a request that only computes, and that is ended between any two of its instructions once it has to stop:
// code that never asks.
//
//   ComputeRegion region;
//   region.Run([&](ComputeMemory& memory) { ... }) ──────► true: it came to its end
//                 ▲           │   ▲ signal, of this run alone, on its kernel thread
//                 │           │   └── Interrupt() by another kernel thread
//                 └── false ◄─┘ what `memory` gave is gone
//
// Only the frames of the body are left behind, and no destructor of theirs runs. So in the body
//   allowed     arithmetic, reading what is there already, writing to plain objects of the caller, which see
//               half of what it did; containers over `memory` (std::pmr); calls within Outside
//   not         parking, after which another run on the kernel thread is a bug; other memory, locks, descriptors,
//               counted references, unless within Outside; being called back from a library
//   leaks       an exception that is being made when the run is ended
//
// A run is ended nowhere but in code of the library, or program, that its body is in; never inside its memory's
// functions, an Outside, another library, while a LeafMutex is held, another user-level thread or an event handler runs,
// or an exception that the body threw is on its way or handled: there it is noted, and taken at the end of an Outside or
// of a function of its memory, or when it is interrupted again.
//
// Departs from source: a region of a handler and not all of it ends early, since a handler's own frames refer to the
//   runtime's objects. The handler goes on after Run and answers with what it has.
// Threads: Run on one kernel thread at a time, also on a user-level thread; Interrupt on any while the region lives.
// Errors: a run within a run, or with a LeafMutex held, is a bug. Where no signal is free, and under ThreadSanitizer,
//   which delivers signals late, Run ends when the body does.
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

// Memory of a run; goes with it when it is ended early, and else with the region.
class ComputeMemory final : public std::pmr::memory_resource {
 public:
  explicit ComputeMemory(ComputeRegion& region);
  // Of what was allocated and not freed.
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

  // REQUIRES: see above. An exception that the body throws passes through.
  template <typename Body>
  bool Run(Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    return RunErased(&CallBody<Plain>, const_cast<void*>(static_cast<const void*>(&body)));
  }
  // Asks the run to end; none may be running.
  void Interrupt();

  // Between its begin and end the body may do what is not allowed otherwise, and is not ended. REQUIRES: on the thread
  // that runs the body, or where none runs.
  class Outside {
   public:
    Outside();
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    ComputeRegion* const region_;
  };

  // For tests: asked to end, and not ended yet.
  bool asked() const { return asked_ != 0; }

 private:
  friend class ComputeMemory;
  friend struct ComputeSignal;
  using ErasedBody = void (*)(void* body, ComputeMemory& memory);

  template <typename Body>
  static void CallBody(void* body, ComputeMemory& memory) {
    (*static_cast<Body*>(body))(memory);
  }

  // Not inlined: its frame is what a run that is ended goes back to.
  __attribute__((noinline)) bool RunErased(ErasedBody body, void* argument);
  void Begin();
  void End();
  void Enter();
  void Leave();
  // In the handler, or in Leave.
  bool MayBeTaken() const;

  ComputeMemory memory_{*this};
  std::atomic<uint64_t> run_{0};  // number of the run, unique in the process; 0: none
  std::atomic<int> thread_id_{0};
  volatile sig_atomic_t depth_ = 0;  // of places where it is not ended
  volatile sig_atomic_t asked_ = 0;
  const UserThread* owner_ = nullptr;  // null: a plain kernel thread
  // The thread's exceptions when the run began: those that are handled, and how many are on their way.
  void* handled_exceptions_ = nullptr;
  unsigned thrown_count_ = 0;
  jmp_buf back_;
};

}  // namespace neptune
