// Completes what is typed into the search box, and finds another spelling for queries that find little.
//
//   typed ─► cache ── hit ─────────────────────────────────────────────► texts
//              └ miss ─► Suggest, both tiers ─► candidates ─► Count, of those in doubt ─┘
//   query ─► Spell, both tiers ─► spellings of the whole query ─► Count, all ─► the first worth it
//
// Nothing is proposed that was not found to match something: phrases are in a document of the partition
// that proposes them, everything else is counted over all partitions that answer.
//
//   index/core/suggest.
// Threads: thread-safe; on user-level threads of the node.
// Errors: RESOURCE_EXHAUSTED too many suggestions under way; otherwise none: what does not answer in time
//   is left out. Tiers without suggestions give none.
// Limits: SearchPlanOptions::suggest_timeout, suggest_count_max; the deadline of a spelling.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/search_plan/cache_client.h"
#include "frontend/search_plan/plan_metrics.h"
#include "frontend/search_plan/plan_options.h"
#include "index/tier/suggest.pb.h"
#include "neptune/service/client.h"

namespace search::frontend {

struct SuggestOrder {
  std::string typed;
  bool may_use_cache = true;
  std::string service_class = {};
  // The version of the index that is asked, by its number; 0: whichever servers have.
  uint64_t index_version = 0;
};

struct SpellOrder {
  std::string query;
  uint64_t index_version = 0;  // as above
  neptune::TimePoint deadline;
};

struct SuggestedTexts {
  std::vector<std::string> texts;  // best first
  // Whether all partitions contributed.
  bool is_complete = false;
};

// Another text for a query, and how many documents it finds.
struct OtherSpelling {
  std::string text;
  uint64_t total = 0;
};

struct SpellingResult {
  std::vector<OtherSpelling> others;  // likeliest first; each finds something
  bool is_complete = false;

  // The likeliest that finds far more than the query's `total`; empty if there is none.
  std::string Best(uint64_t total) const;
};

class Suggester {
 public:
  // `client` outlives the suggester and every call.
  Suggester(neptune::Client& client, const SearchPlanOptions& options, const PlanMetrics& metrics);

  neptune::StatusOr<SuggestedTexts> Suggest(const SuggestOrder& order);

  SpellingResult Spell(const neptune::ClientSession& session, const SpellOrder& order) const;

  // Insertions into the cache that are under way.
  size_t insert_count() const { return cache_.insert_count(); }

 private:
  SuggestedTexts Compute(const neptune::ClientSession& session, const SuggestOrder& order);
  // Documents found by each of the canonical queries, summed over the partitions that answer.
  struct Counts {
    std::vector<uint64_t> totals;
    bool is_complete = false;
  };
  Counts Count(const neptune::ClientSession& session, index::CountQuery query,
               neptune::TimePoint deadline) const;

  neptune::Client& client_;
  const SearchPlanOptions options_;
  CacheClient cache_;
  std::atomic<size_t> suggest_count_{0};
  // Of the newest answer; what the cache is asked for. 0 before the first.
  std::atomic<uint64_t> index_version_{0};
};

}  // namespace search::frontend
