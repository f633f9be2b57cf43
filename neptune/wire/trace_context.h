// Identity of a request across nodes, as W3C Trace Context defines it.
//
//   traceparent: 00-<trace: 32 digits>-<span: 16 digits>-<flags: 2 digits>     lower-case hexadecimal
//
// Source: W3C Trace Context, level 1. Departs from source: tracestate is not carried.
// No I/O; random numbers come in.
// Threads: pure functions.
// Errors: kInvalidArgument a text that is no traceparent; the request then goes on without a trace.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/world/random_source.h"

namespace neptune {

struct TraceContext {
  uint64_t trace_high = 0;
  uint64_t trace_low = 0;
  uint64_t span = 0;  // of who sends it: the parent of what the receiver does
  bool sampled = false;

  bool present() const { return (trace_high | trace_low) != 0; }
  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

// Accepts later versions as the standard asks: their first four fields mean the same.
StatusOr<TraceContext> ParseTraceparent(std::string_view text);
// As version 00. REQUIRES: trace.present().
std::string FormatTraceparent(const TraceContext& trace);

// The trace's identity alone, 32 digits.
std::string TraceIdText(const TraceContext& trace);

// A trace of its own, for a request that came without one.
TraceContext NewTrace(RandomSource& random, bool sampled);
// The same trace with a span of its own.
TraceContext ChildOf(const TraceContext& parent, RandomSource& random);

}  // namespace neptune
