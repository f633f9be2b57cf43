// A request's place in the main working pool, given back while its thread waits in a capsule.
//
//   main pool ── OutsideMainPool ──► waits in a capsule, where another bound holds ──► main pool, as soon as a place is free
//
//   {
//     const OutsideMainPool outside;
//     ... wait for the dependency ...
//   }
//
// So a dependency that hangs takes its own capsule's places and none of the pool's, whose size says how many requests
// work at once, not how many wait. Threads without a place - of short requests, of streams, those that a method
// starts - are not concerned.
//
// Source: [Chu05] IV.A, figures 2 and 3 (star topology around the main working thread pool).
// Whoever owns a pool (neptune/service) gives its threads their places.
// Threads: on the user-level thread that has the place.

#pragma once

#include "neptune/thread/user_thread.h"

namespace neptune {

class MainPoolPlace {
 public:
  virtual ~MainPoolPlace() = default;
  virtual void GiveBack() = 0;
  // Parks until there is a place again; who was outside goes before who was not inside yet.
  virtual void Readmit() = 0;

  // The calling thread's; null: it has none, or has given it back.
  static MainPoolPlace* Current();
  // REQUIRES: `place` outlives the thread's use of it; null takes it away.
  static void SetCurrent(MainPoolPlace* place);
};

// Outside of the pool as long as it lives.
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
