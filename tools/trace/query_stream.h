// Chooses the queries of a generated trace: repeats of earlier ones, or fresh ones.
//
// With a repeat share r, a request repeats with probability r: it asks the query that was k-th to
// be fresh, k drawn by Zipf's law from 1 to the number of queries asked so far - what is popular is
// seen early. Else it asks the next query of the shuffled list that was not asked yet. When the
// list is used up, new queries are put together from the words of two of its queries. If r is 0,
// each request draws from the whole list by Zipf's law.
//
// Source: [Shen02] 4.5.1 (share of cached requests).
// Threads: thread-compatible. The same list, profile and seed give the same queries.
// Limits: memory grows with the list and with fresh queries.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "neptune/world/random_source.h"
#include "tools/trace/trace_profile.pb.h"

namespace search::tools {

// A rank from 1 to `count` with probability proportional to rank^-exponent, in constant time.
// Source: rejection-inversion of [Hormann96]. REQUIRES: count > 0, exponent > 0.
uint64_t DrawZipf(neptune::RandomSource& random, double exponent, uint64_t count);

class QueryStream {
 public:
  // REQUIRES: `queries` is not empty and each passes CheckTraceQuery; equal ones count once.
  QueryStream(std::vector<std::string> queries, const TraceProfile& profile, uint64_t seed);

  // Valid until the next call.
  const std::string& Next();

  // Number of fresh queries combined from others because the list was exhausted.
  uint64_t composed_count() const { return composed_count_; }

 private:
  const std::string& Fresh();
  std::string Compose();

  neptune::RandomSource random_;
  const double zipf_exponent_;
  const double repeat_share_;  // negative: not given
  std::vector<std::string> list_;
  std::unordered_set<std::string> known_;  // the list's and the composed ones
  std::vector<std::string> asked_;         // in order of first use
  uint64_t composed_count_ = 0;
};

}  // namespace search::tools
