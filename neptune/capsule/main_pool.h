// A request's place in the main working pool, given back while its thread waits in a capsule.
//
//   main pool ── OutsideMainPool ──► waits in a capsule, which has its own bound
//        ▲                                              │
//        └─────────── as soon as a place is free ───────┘
//
//   {
//     const OutsideMainPool outside;
//     ... wait for the dependency ...
//   }
//
// A dependency that hangs thus uses up places of its own capsule and none of the pool, whose size
// bounds the requests that work, not those that wait. Threads without a place (short requests,
// streams, threads that a method starts) are not affected.
//
// Source: [Chu05] IV.A, figures 2 and 3 (star topology around the main working thread pool).
// The owner of a pool (neptune/service) assigns places to its threads.
// Threads: used on the user-level thread that has the place.

#pragma once

#include "neptune/thread/user_thread.h"

namespace neptune {

class MainPoolPlace {
 public:
  virtual ~MainPoolPlace() = default;
  virtual void GiveBack() = 0;
  // Parks until a place is free; threads that return precede requests that have not started.
  virtual void Readmit() = 0;

  // The calling thread's place; null: it has none or has given it back.
  static MainPoolPlace* Current();
  // REQUIRES: `place` outlives the thread's use of it; null takes it away.
  static void SetCurrent(MainPoolPlace* place);
};

// Scope guard: gives the calling thread's place back and reacquires it at the end of the scope.
class OutsideMainPool {
 public:
  OutsideMainPool();
  ~OutsideMainPool();
  OutsideMainPool(const OutsideMainPool&) = delete;
  OutsideMainPool& operator=(const OutsideMainPool&) = delete;

 private:
  MainPoolPlace* const place_;
};

}  // namespace neptune
