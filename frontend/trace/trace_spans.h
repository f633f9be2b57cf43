// A search as spans: from the frontend's steps down to every server of the tiers' trees.
//
//   search ──┬─ arrival │ gate ................................ queue
//            ├─ cache │ documents │ spelling ................... wait
//            ├─ tier 1 ──┬─ forming ............................ work
//            │           ├─ transit ............................ wait: on the wire, and until somebody took it
//            │           ├─ store-1 ──┬─ queue │ work │ wait │ merge
//            │           │            └─ store-3 ── queue │ ...  (its answer went to store-1)
//            │           └─ merge .............................. the frontend's own reductions
//            └─ own work ....................................... between the steps
//
// Clocks are not compared: a server's parts are placed by its own clock from the arrival of its task, which is taken to be
// half of the transit after it was sent.
//
// Source: [Chu03] 4.4 (where an aggregation's time goes). Threads: pure functions.

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

// The first is the whole search. Those of one parent that are not whole lie side by side.
std::vector<TraceSpan> SpansOf(const SearchTrace& trace);

// Where the time of the whole search went, by SpanPart (kWhole stays 0): of each tier, that of the tree's server which
// answered the frontend last. What it waited for, its children did meanwhile.
std::array<neptune::Duration, 5> PartsOf(const SearchTrace& trace);

}  // namespace search::frontend
