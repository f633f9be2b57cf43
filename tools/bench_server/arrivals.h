// Times at which the requests of an open loop are due: a Poisson process of a given mean rate.
//
// No clock: the same seed gives the same times.
// Threads: thread-compatible.
// Units: nanoseconds since the start.

#pragma once

#include <cstdint>

namespace search::tools {

class Arrivals {
 public:
  // REQUIRES: rate > 0, in requests a second.
  Arrivals(double rate, uint64_t seed);

  int64_t next_ns() const { return next_ns_; }
  void Advance();

 private:
  const double mean_gap_ns_;
  uint64_t state_;
  double exact_next_ns_ = 0;
  int64_t next_ns_ = 0;
};

}  // namespace search::tools
