// Trace identity of a request across nodes, as defined by W3C Trace Context.
//
//   traceparent: 00-<trace: 32 digits>-<span: 16 digits>-<flags: 2 digits>   lower-case hexadecimal
//
// Source: W3C Trace Context, level 1. Departs from source: tracestate is not carried.
// No I/O; random numbers are an argument.
// Threads: pure functions.
// Errors: kInvalidArgument malformed traceparent; the request then continues without a trace.

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
  uint64_t span = 0;  // span of the sender; the parent of the receiver's spans
  bool sampled = false;

  bool present() const { return (trace_high | trace_low) != 0; }
  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

// Accepts later versions, as the standard requires: their first four fields have the same meaning.
StatusOr<TraceContext> ParseTraceparent(std::string_view text);
// Formats as version 00. REQUIRES: trace.present().
std::string FormatTraceparent(const TraceContext& trace);
void AppendTraceparent(const TraceContext& trace, std::string* out);

// Returns the trace id, 32 digits.
std::string TraceIdText(const TraceContext& trace);

// Starts a trace, for a request that arrived without one.
TraceContext NewTrace(RandomSource& random, bool sampled);
// Returns the same trace with a new span.
TraceContext ChildOf(const TraceContext& parent, RandomSource& random);

}  // namespace neptune
