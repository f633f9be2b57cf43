// Ends requests early: who asks, and what happens then.
//
//   timer thread ──signal of a generation──► handler on the request's thread: arms
//                                              │ arena-only, no lock, no region, in the program's own code
//                                              │        └─► the interrupted instruction is followed by Take
//                                              └ else: the next check takes
//   Take: generation is even from here; streams, descriptors, mappings and memory are released; rollback point
//
// Source: [Zhou06], "Implementation & Usage".
// Departs from source: the handler does not jump itself but lets the thread go on in Take, on its own stack and out of
//   the handler, where every function may be called.
// Threads: as each says.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "neptune/sert/request_record.h"
#include "neptune/sert/sert.h"
#include "neptune/sert/termination_threshold.h"

namespace neptune::sert {

inline constexpr size_t kRecordCount = 4096;

// Clock of the requests' ages: monotonic nanoseconds.
int64_t NowNs();

// The calling thread's record, claimed at the first call; null if all are taken.
RequestRecord* ClaimRecord();
// By number; null for one that was never claimed. For the timer.
RequestRecord* RecordAt(size_t number);

// What a handler of the timer's signal does. Not zero: errno, as SERT_init_timer says.
int InstallHandler(int signum);
// Asks the request of that generation to end. Any thread. False: its thread is gone.
bool SendSignal(const RequestRecord& record, uint64_t generation, int signum);

// Of all threads: requests that began, and that ended, by themselves or early.
struct RequestCounts {
  uint64_t begun = 0;
  uint64_t ended = 0;
};
RequestCounts CountRequests();

// Totals of all threads; counters for the threshold.
struct Totals {
  std::atomic<uint64_t> lost{0};
  std::atomic<uint64_t> terminated{0};
  std::atomic<uint64_t> terminated_between{0};
  std::atomic<uint64_t> released_memory{0};
  std::atomic<uint64_t> released_descriptors{0};
  std::atomic<uint64_t> released_streams{0};
  std::atomic<uint64_t> released_directories{0};
  std::atomic<uint64_t> released_mappings{0};
  std::atomic<uint64_t> released_processes{0};
  std::atomic<uint64_t> gone_rollback_points{0};
  std::atomic<int64_t> threshold_ns{0};
};
extern Totals totals;

}  // namespace neptune::sert
