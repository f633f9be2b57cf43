// The trace that a search belongs to, and whether it leaves spans on every node it reaches.
//
// A caller's traceparent is continued. Its sampled flag is an operator's choice: nodes keep a
// thousand spans, and a client that sets the flag of many requests pushes out all others. A request
// of someone else with the flag is sampled as often as one without a trace, and one that says it is
// not sampled never is.
//
// Source: W3C Trace Context, level 1, 3.2.2.5.1 (the flag is a hint that may be abused).
// Threads: a pure function; the random numbers are an argument.

#pragma once

#include <string_view>

#include "absl/functional/function_ref.h"
#include "neptune/wire/trace_context.h"
#include "neptune/world/random_source.h"

namespace search::frontend {

// `sampled_share`: fraction of the searches without a caller's trace that are sampled. A malformed
// traceparent counts as none. `is_operator` is asked if the answer matters.
inline neptune::TraceContext ChooseTrace(std::string_view traceparent, double sampled_share,
                                         neptune::RandomSource& random,
                                         absl::FunctionRef<bool()> is_operator) {
  if (!traceparent.empty()) {
    auto given = neptune::ParseTraceparent(traceparent);
    if (given.ok() && given->sampled && !is_operator()) {
      given->sampled = random.Uniform() < sampled_share;
    }
    if (given.ok()) return *given;
  }
  return neptune::NewTrace(random, random.Uniform() < sampled_share);
}

}  // namespace search::frontend
