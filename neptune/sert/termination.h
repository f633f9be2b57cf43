// Early termination of requests.
//
//   timer thread ──signal for a generation──► handler on the request's thread: arms the record
//                                              │ arena-only, no lock, no region, program's own code
//                                              │        └─► the thread continues in Take
//                                              └ else: the next check calls Take
//   Take: the generation becomes even; streams, descriptors, mappings and memory are released; the
//         request continues at its rollback point
//
// Source: [Zhou06], "Implementation & Usage".
// Departs from source: the handler does not jump; the thread continues in Take after the handler,
//   on its own stack, where every function may be called.
// Threads: as stated for each function.

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
// Returns the record of that number; null if it was never claimed. For the timer.
RequestRecord* RecordAt(size_t number);

// Installs the handler of the timer's signal. Returns 0 or an errno value, as SERT_init_timer.
int InstallHandler(int signum);
// Requests the termination of that generation's request. Any thread. Returns false if its thread is
// gone.
bool SendSignal(const RequestRecord& record, uint64_t generation, int signum);

// Requests of all threads that began, and that ended, normally or early.
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
