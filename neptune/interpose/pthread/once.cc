// pthread_once, and the initialisation of C++'s local statics, for both kinds of threads. A routine
// that ends by an exception or by pthread_exit counts as not run.
//
// Source: POSIX; the C++ ABI 3.3.3 (one-time construction). Departs from source: a forked child
//   does not run a routine again that was running in its parent.

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "neptune/interpose/preload/call_names.h"
#include "neptune/interpose/pthread/parking_lot.h"

namespace neptune::interpose {
namespace {

// Changes `word` from 0 (not begun) to `done`; one thread at a time.
class OneTime {
 public:
  OneTime(int* word, int under_way, int done)
      : address_(word), word_(*word), under_way_(under_way), done_(done) {}

  // True: the caller must run the routine and call End. False: already done.
  bool Begin() {
    for (;;) {
      int seen = 0;
      if (word_.compare_exchange_strong(seen, under_way_, std::memory_order_acquire)) return true;
      if (seen == done_) return false;
      ParkingLot::Get().Wait({.address = address_}, [this] {
        return word_.load(std::memory_order_acquire) == under_way_;
      });
    }
  }

  void End(bool is_done) {
    word_.store(is_done ? done_ : 0, std::memory_order_release);
    ParkingLot::Get().AtAddress(address_, [](ParkingLot::Queue& queue) {
      while (!queue.empty()) queue.LetGo(queue.first(), 0);
    });
  }

 private:
  const void* const address_;
  const std::atomic_ref<int> word_;
  const int under_way_;
  const int done_;
};

// Ends the turn when its scope is left in any way.
class Turn {
 public:
  explicit Turn(OneTime& one_time) : one_time_(one_time) {}
  ~Turn() { one_time_.End(done_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  void Done() { done_ = true; }

 private:
  OneTime& one_time_;
  bool done_ = false;
};

// std::call_once passes its function to pthread_once in two thread-local objects of the kernel
// thread, which other user-level threads overwrite while this one waits for its turn.
class CallOnceArguments {
 public:
  CallOnceArguments() : callable_(std::__once_callable), call_(std::__once_call) {}
  void Restore() const {
    std::__once_callable = callable_;
    std::__once_call = call_;
  }

 private:
  void* const callable_;
  void (*const call_)();
};

void RunOnce(pthread_once_t* once, void (*routine)()) {
  constexpr int kUnderWay = 1;
  constexpr int kDone = 2;
  OneTime one_time(once, kUnderWay, kDone);
  const CallOnceArguments arguments;
  if (!one_time.Begin()) return;
  arguments.Restore();
  Turn turn(one_time);
  routine();
  turn.Done();
}

// The compiler checks the first byte, which is 1 once the object is constructed.
OneTime ObjectOf(int64_t* guard) {
  constexpr int kUnderWay = 1 << 8;
  constexpr int kDone = 1;
  return OneTime(reinterpret_cast<int*>(guard), kUnderWay, kDone);
}

}  // namespace
}  // namespace neptune::interpose

NEPTUNE_PRELOAD_CALL int neptune_pthread_once(pthread_once_t* once, void (*routine)()) {
  neptune::interpose::RunOnce(once, routine);
  return 0;
}

NEPTUNE_PRELOAD_CALL int neptune___cxa_guard_acquire(int64_t* guard) {
  return neptune::interpose::ObjectOf(guard).Begin() ? 1 : 0;
}

NEPTUNE_PRELOAD_CALL void neptune___cxa_guard_release(int64_t* guard) {
  neptune::interpose::ObjectOf(guard).End(true);
}

NEPTUNE_PRELOAD_CALL void neptune___cxa_guard_abort(int64_t* guard) {
  neptune::interpose::ObjectOf(guard).End(false);
}
