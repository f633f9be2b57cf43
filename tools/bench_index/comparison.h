// Compares one engine with the best of the others, for each command and class of queries, and says
// whether it reaches its bounds.
//
// Threads: pure functions.
// Units: microseconds.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/bench_index/game_query.h"
#include "tools/bench_index/timing_table.h"

namespace search::tools {

// A peer that answered fewer of the queries of a class cannot be its best.
inline constexpr double kAnsweredShareMin = 0.9;

// How the indexes were made; bounds are stricter for an engine that benefits.
struct BoundConditions {
  bool reordered = false;       // documents of all engines by recursive graph bisection
  bool word_sequences = false;  // our index holds sequences of frequent words
};

// Required speed-up over the best peer; 0 if there is no bound.
double SpeedBound(std::string_view command, QueryClass query_class,
                  const BoundConditions& conditions);

struct ClassComparison {
  std::string command;
  QueryClass query_class = QueryClass::kTerm;
  size_t query_count = 0;  // that ours answered
  double p50 = 0;
  double p99 = 0;
  // The peer with the smallest `times_faster`, empty if there is none; p50 and p99 of its times.
  std::string peer;
  double peer_p50 = 0;
  double peer_p99 = 0;
  // Geometric mean over the queries that both answered, of the peer's time divided by ours.
  double times_faster = 0;
  double bound = 0;

  // True if there is no bound, or if ours reaches it and its 99th percentile is not worse.
  bool ReachesBound() const;
};

std::vector<ClassComparison> Compare(const TimingTable& table, const std::string& ours,
                                     const BoundConditions& conditions);

// The comparison as a table for people; its last line has the number of bounds that were reached.
std::string FormatComparison(const std::vector<ClassComparison>& comparison);

struct BoundCounts {
  size_t reached = 0;
  size_t asked = 0;  // bounds of classes that were measured beside at least one peer
};
BoundCounts CountBounds(const std::vector<ClassComparison>& comparison);

}  // namespace search::tools
