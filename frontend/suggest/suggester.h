// Completes the text in the search box, and finds other spellings for queries with doubtful words.
//
//   typed ─► cache ── hit ─────────────────────────────────────────────► texts
//              └ miss ─► Suggest, both tiers ─► candidates ─► Count, uncertain ones ─┘
//   query ─► Spell, a partition with the dictionary ── or, if it fails, another ─► likeliest spelling
//
// Every completion is known to match a document: a phrase occurs in a document of the partition
// that proposes it (index/suggest), everything else is counted over all partitions that answer.
// Words of a spelling are in documents, too; whether all of it finds some is only known if it is
// counted.
//
// Threads: thread-safe; on user-level threads of the node.
// Errors: RESOURCE_EXHAUSTED too many completions in progress; no other errors: partitions that do
//   not answer in time are left out. Tiers that do not implement suggestions contribute none.
// Limits: SearchPlanOptions::suggest_timeout, suggest_count_max; the deadline of a spelling.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/caching/cache_client.h"
#include "frontend/policy/plan_metrics.h"
#include "frontend/policy/plan_options.h"
#include "index/suggest/spelling.h"
#include "index/tier/suggest.pb.h"
#include "neptune/service/client.h"

namespace search::frontend {

struct SuggestOrder {
  std::string typed;
  bool may_use_cache = true;
  std::string service_class = {};
  // Cancelled when the client is gone; null: it never is.
  std::shared_ptr<neptune::IncomingCall> call = nullptr;
  // Number of the index version to ask; 0: any version the servers have.
  uint64_t index_version = 0;
};

struct SpellOrder {
  std::string query;
  // Its words, and which of them may change; index::WordsToSpell.
  std::vector<index::SpelledWord> words;
  // Only a spelling that finds documents is of use.
  bool must_match = false;
  uint64_t index_version = 0;  // as above
  neptune::TimePoint deadline;
};

struct SuggestedTexts {
  std::vector<std::string> texts;  // best first
  // True if all partitions contributed.
  bool is_complete = false;
};

struct SpellingResult {
  std::optional<index::SpelledQuery> best;  // the likeliest, if it is likelier than the query
  bool is_complete = false;                 // false: there was no answer in time
};

class Suggester {
 public:
  Suggester(const SearchPlanOptions& options, const PlanMetrics& metrics);

  // `session`: of the order's client.
  neptune::StatusOr<SuggestedTexts> Suggest(neptune::ClientSession& session,
                                            const SuggestOrder& order);

  SpellingResult Spell(const neptune::ClientSession& session, const SpellOrder& order) const;

  // Number of insertions into the cache in progress.
  size_t insert_count() const { return cache_.insert_count(); }

 private:
  SuggestedTexts Compute(const neptune::ClientSession& session, const SuggestOrder& order);
  // Number of documents that each canonical query finds, summed over the partitions that answer.
  struct Counts {
    std::vector<uint64_t> totals;
    bool is_complete = false;
  };
  Counts Count(const neptune::ClientSession& session, index::CountQuery query,
               neptune::TimePoint deadline) const;
  // Asks one partition with the dictionary, and another one if that fails.
  neptune::StatusOr<index::SpellAnswer> AskDictionary(const neptune::ClientSession& session,
                                                      const SpellOrder& order) const;

  const SearchPlanOptions options_;
  CacheClient cache_;
  std::atomic<size_t> suggest_count_{0};
  // Index version of the newest answer; cache lookups ask for it. 0 before the first answer.
  std::atomic<uint64_t> index_version_{0};
};

}  // namespace search::frontend
