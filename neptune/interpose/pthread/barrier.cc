// Barriers for user-level and kernel threads, in the memory of pthread_barrier_t.
// pthread_barrier_init stays libc's and sets the count and the process-shared flag; arrivals are
// counted in libc's field.
//
// Source: POSIX. Departs from source: a process-shared barrier stays libc's, and waiting at one
//   blocks the kernel thread.

#include <pthread.h>

#include <cerrno>

#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/pthread/parking_lot.h"

namespace neptune::interpose {
namespace {

// Layout of libc.
struct BarrierData {
  unsigned arrived;
  unsigned round;
  unsigned count;
  int shared;
};
static_assert(sizeof(BarrierData) <= sizeof(pthread_barrier_t));

BarrierData* DataOf(pthread_barrier_t* barrier) { return reinterpret_cast<BarrierData*>(barrier); }

// The thread that completes the round is the serial thread.
int WaitAt(BarrierData* barrier) {
  bool is_last = false;
  // Runs under the bucket's lock; the last thread does not queue.
  const auto arrive = [barrier, &is_last] {
    is_last = ++barrier->arrived == barrier->count;
    return !is_last;
  };
  ParkingLot::Get().Wait({.address = barrier}, arrive);
  if (!is_last) return 0;
  ParkingLot::Get().AtAddress(barrier, [barrier](ParkingLot::Queue& queue) {
    barrier->arrived -= barrier->count;
    while (!queue.empty()) queue.LetGo(queue.first(), 0);
  });
  return PTHREAD_BARRIER_SERIAL_THREAD;
}

}  // namespace
}  // namespace neptune::interpose

using neptune::interpose::DataOf;

NEPTUNE_PRELOAD_CALL int neptune_pthread_barrier_wait(pthread_barrier_t* barrier) {
  if (DataOf(barrier)->shared != 0) return pthread_barrier_wait(barrier);
  return neptune::interpose::WaitAt(DataOf(barrier));
}
