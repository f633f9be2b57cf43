// One thread's request: what it holds, and whether it may be ended here and now.
//
//   requested   any time: the timer's signal, or another thread, arms the record
//   taken       at a check      a wrapper's end, SERT_check; the caller is the program's own code
//               between two instructions of the program's own code, if it declared to be arena-only
//               never where     depth, lock_count or outside is above 0, or the rollback point is gone
//
//   generation  0 ─start─► 1 ─end or taken─► 2 ─start─► 3 ...   odd while a request runs; a signal for another
//                                                            generation than the one that runs is for nobody
//
// Source: SERT, "Resource Accounting".
// Threads: depth to arena_only belong to the thread and the signal handler on it; the atomics to the timer as well.

#pragma once

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>

#include "neptune/sert/arena_region.h"
#include "neptune/sert/request_arena.h"
#include "neptune/sert/resource_ledger.h"

namespace neptune::sert {

struct RequestRecord {
  std::atomic<uint64_t> generation{0};
  std::atomic<int64_t> begun_ns{0};
  std::atomic<int> thread_id{0};  // of the system; 0: the record is free
  // Of all that had this record: requests that began, and that ended by themselves. Only the thread itself counts.
  std::atomic<uint64_t> begun_count{0};
  std::atomic<uint64_t> done_count{0};
  // When the timer first asked the request of that generation to end.
  std::atomic<int64_t> asked_ns{0};
  std::atomic<uint64_t> asked_generation{0};
  int64_t taken_after_ns =
      0;  // the latest that was ended: from the asking until it went on at its rollback point

  // Read by the handler between any two instructions.
  volatile sig_atomic_t depth = 0;       // regions of this library
  volatile sig_atomic_t lock_count = 0;  // held by the request
  volatile sig_atomic_t outside = 0;
  volatile sig_atomic_t arena_only = 0;
  volatile sig_atomic_t armed = 0;
  // A signal came for a request that had ended meanwhile: what it interrupted goes on.
  volatile sig_atomic_t stray = 0;
  // In a call of the C library that returns memory to the request.
  int library_call = 0;

  sigjmp_buf* rollback = nullptr;
  uintptr_t rollback_frame = 0;       // stack pointer of the function that registered it
  int nested = 0;                     // starts within the request
  void* caught_exceptions = nullptr;  // those of the thread when the request began
  void* alternate_stack = nullptr;    // that this library gave the thread

  RequestArena arena{process_arena_region};
  ResourceLedger ledger;

  bool running() const { return (generation.load(std::memory_order_relaxed) & 1) != 0; }
};

// Of a number that only the calling thread writes: no other processor's copy is locked for it.
template <typename Number>
void AddOwn(std::atomic<Number>& number, Number change) {
  number.store(number.load(std::memory_order_relaxed) + change, std::memory_order_release);
}

// The thread's record, or null before its first request.
extern __thread RequestRecord* own_record
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
// The same while what the thread does is its request's: it runs, and is not outside. Null else.
extern __thread RequestRecord* accounting_record
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

// Whether a call of this thread that was told EINTR was interrupted by this library's signal, and not by one of the
// program's. Says so once for a signal that was for nobody.
inline bool WasInterruptedByUs() {
  RequestRecord* const record = own_record;
  if (record == nullptr) return false;
  if (record->armed != 0) return true;
  const bool stray = record->stray != 0;
  record->stray = 0;
  return stray;
}

// Ends the request if it is to be ended and may be. `caller` is the address that the calling wrapper returns to.
void TerminateAtCheck(RequestRecord* record, const void* caller);

// A part of this library in which the thread's request is not ended; its end is a check.
class Region {
 public:
  Region(RequestRecord* record, const void* caller) : record_(record), caller_(caller) {
    record->depth = record->depth + 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Region() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    record_->depth = record_->depth - 1;
    if (record_->armed != 0) TerminateAtCheck(record_, caller_);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  RequestRecord* const record_;
  const void* const caller_;
};

}  // namespace neptune::sert
