// The measurements of one request, and the facts that its answer states.
//
// Three time stamps per request, as open-loop generators need them.
// Threads: plain values.
// Units: nanoseconds since the run's time 0.

#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace search::tools {

// Longest run: 31 days.
inline constexpr int64_t kRunLengthMaxNs = int64_t{31} * 86'400 * 1'000'000'000;

enum class Outcome : uint8_t {
  kAnswered = 0,
  kRejected = 1,    // the server is overloaded: 429, 503, RESOURCE_EXHAUSTED
  kError = 2,       // any other answer than the wanted one
  kTimedOut = 3,    // no answer within the timeout
  kConnection = 4,  // refused, lost, or protocol error
};
inline constexpr int kOutcomeCount = 5;

// "answered", "rejected", "error", "timeout", "connection".
std::string_view OutcomeName(Outcome outcome);

enum class CacheFact : uint8_t { kUnknown = 0, kHit = 1, kMiss = 2 };

// Facts that an answer reports about its computation.
struct AnswerFacts {
  // Share of the index partitions that answered, 0 to 1.
  float quality = 1;
  CacheFact cache = CacheFact::kUnknown;
  // The computation was cut short.
  bool terminated = false;
};

// Stored in the measurement file exactly as in memory.
struct Measurement {
  int64_t intended_ns = 0;  // planned time
  int64_t sent_ns = 0;      // handed to the operating system, or connect started
  int64_t done_ns = 0;      // last byte of the answer, or time it was abandoned
  uint32_t request = 0;     // index in the plan
  uint8_t service_class = 0;
  Outcome outcome = Outcome::kAnswered;
  CacheFact cache = CacheFact::kUnknown;
  uint8_t terminated = 0;
  float quality = 0;  // 0 unless answered
  uint32_t reserved = 0;

  int64_t latency_ns() const { return done_ns - intended_ns; }
  int64_t service_ns() const { return done_ns - sent_ns; }
  int64_t lateness_ns() const { return sent_ns - intended_ns; }
};
static_assert(sizeof(Measurement) == 40 && std::is_trivially_copyable_v<Measurement>);

}  // namespace search::tools
