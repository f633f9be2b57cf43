// Converts a search into spans: the frontend's steps and every server of the tiers' reduction
// trees.
//
//   search ──┬─ arrival │ gate ................................ queue
//            ├─ cache │ documents │ spelling ................... wait
//            ├─ tier 1 ──┬─ forming ............................ work
//            │           ├─ transit ............................ wait: wire, and for a thread
//            │           ├─ store-1 ──┬─ queue │ work │ wait │ merge
//            │           │            └─ store-3 ── queue │ ...  (its answer went to store-1)
//            │           └─ merge .............................. the frontend's own reductions
//            └─ own work ....................................... between the steps
//
// Clocks of different nodes are never compared: the parts of a server are placed by its own clock
// relative to the arrival of its task, which is assumed to be half of the transit time after
// sending.
//
// Source: [Chu03] 4.4 (where an aggregation's time goes).
// Threads: pure functions.

#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/trace/search_trace.h"

namespace search::frontend {

enum class SpanPart { kWhole, kQueue, kWork, kWait, kMerge };
std::string_view Name(SpanPart part);  // "whole", "queue", ...

struct TraceSpan {
  int parent = -1;  // index of a span before it; -1: none
  std::string name;
  std::string node;  // empty: the frontend
  SpanPart part = SpanPart::kWhole;
  // Since the request's arrival.
  neptune::Duration begin{0};
  neptune::Duration duration{0};
};

// The first span is the whole search. Spans of the same parent do not overlap, except kWhole spans.
std::vector<TraceSpan> SpansOf(const SearchTrace& trace);

// Time of the whole search by SpanPart (kWhole stays 0). For each tier only the server that
// answered the frontend last counts; the work of its children is contained in its wait.
std::array<neptune::Duration, 5> PartsOf(const SearchTrace& trace);

}  // namespace search::frontend
