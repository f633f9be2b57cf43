// The record of one thread's request: its resources, and whether it may be terminated at this
// point.
//
//   requested   at any time: the timer's signal, or another thread, arms the record
//   taken       at a check (end of a wrapper, SERT_check) that is called by the program's own code;
//               or between two instructions of the program's own code in an arena-only section;
//               never while depth, lock_count or outside is above 0, or the rollback point is gone
//
//   generation  0 ─start─► 1 ─end or taken─► 2 ─start─► 3 ...   odd while a request runs; a signal
//                                                               for another generation is ignored
//
// Source: SERT, "Resource Accounting".
// Threads: `depth` to `arena_only` are accessed by the thread and its signal handler; the atomics
//   by the timer as well.

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
  std::atomic<int> thread_id{0};  // kernel thread id; 0: the record is free
  // Requests of all owners of this record that began, and that ended normally. Written by the
  // thread only.
  std::atomic<uint64_t> begun_count{0};
  std::atomic<uint64_t> done_count{0};
  // Time at which the timer first requested the termination of asked_generation.
  std::atomic<int64_t> asked_ns{0};
  std::atomic<uint64_t> asked_generation{0};
  // Latest terminated request: time from the request for termination to the rollback point.
  int64_t taken_after_ns = 0;

  // Read by the signal handler between any two instructions.
  volatile sig_atomic_t depth = 0;       // nesting of this library's regions
  volatile sig_atomic_t lock_count = 0;  // locks held by the request
  volatile sig_atomic_t outside = 0;
  volatile sig_atomic_t arena_only = 0;
  volatile sig_atomic_t armed = 0;
  // A signal arrived for a request that had already ended; the interrupted call is restarted.
  volatile sig_atomic_t stray = 0;
  // Nesting of C library calls that return memory to the request.
  int library_call = 0;

  sigjmp_buf* rollback = nullptr;
  uintptr_t rollback_frame = 0;       // stack pointer of the function that registered it
  int nested = 0;                     // starts within the request
  void* caught_exceptions = nullptr;  // the thread's exceptions at the start of the request
  void* alternate_stack = nullptr;    // installed by this library

  RequestArena arena{process_arena_region};
  ResourceLedger ledger;

  bool running() const { return (generation.load(std::memory_order_relaxed) & 1) != 0; }
};

// Adds to a number that only the calling thread writes, without an atomic read-modify-write.
template <typename Number>
void AddOwn(std::atomic<Number>& number, Number change) {
  number.store(number.load(std::memory_order_relaxed) + change, std::memory_order_release);
}

// The thread's record, or null before its first request.
extern __thread RequestRecord* own_record
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
// The same while the thread runs a request and is not outside of it; otherwise null.
extern __thread RequestRecord* accounting_record
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

// True if a call of this thread that returned EINTR was interrupted by this library's signal rather
// than by one of the program's. A stray signal is reported once.
inline bool WasInterruptedByUs() {
  RequestRecord* const record = own_record;
  if (record == nullptr) return false;
  if (record->armed != 0) return true;
  const bool stray = record->stray != 0;
  record->stray = 0;
  return stray;
}

// Terminates the request if that is requested and allowed. `caller` is the return address of the
// calling wrapper.
void TerminateAtCheck(RequestRecord* record, const void* caller);

// A section of this library in which the thread's request is not terminated; its end is a check.
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
