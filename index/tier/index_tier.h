// Interface of one partition of an index tier.
//
// Source: the local operator of the aggregation call ([Chu03] figure 4).
// Does not depend on Neptune above base: a service module calls it, on threads that may block.
// Threads: thread-safe once opened. An opened tier is immutable, except for live/.
// Units: scores are comparable between all partitions of one index version, because they are
//   computed from collection-wide statistics.
// Errors: Search returns INVALID_ARGUMENT for a query that does not parse or exceeds a limit,
//   DATA_LOSS for a damaged index, and any error of TierSearchControl::read. Running out of time is
//   not an error: the answer is then the best found so far, with evaluated_completely = false.
// Limits: 1 <= hit_count_max <= kTierHitCountMax; query text at most kTierQuerySizeMax bytes.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "index/tier/explain.pb.h"
#include "index/tier/facet.pb.h"
#include "index/tier/suggest.pb.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::index {

inline constexpr uint32_t kTierHitCountMax = 1000;
inline constexpr size_t kTierQuerySizeMax = 256u << 10;
inline constexpr uint64_t kTierStopPostings = 4096;

// Controls when an unfinished search must end, and where it reads its store.
struct TierSearchControl {
  // Evaluation ends soon after `now()` has reached this. Ignored without `now`.
  neptune::TimePoint deadline = neptune::kNever;
  std::function<neptune::TimePoint()> now;

  // Polled every kTierStopPostings or so; evaluation ends soon after it has returned true. It may
  // let other searches of the thread go first and return late, so none of what they share may be
  // locked or in use by then. May be empty.
  std::function<bool()> stop;

  // Called with the postings that evaluation may read, approximately, before it does, perhaps for
  // one part after the other; may return late like `stop`. May be empty. A tier that does not know
  // calls it never.
  std::function<void(uint64_t postings)> expect;

  // Runs `read`, which reads a storage engine and may wait for a disk, once, perhaps on another
  // thread, and returns when it has finished. `read` must own all that it uses: an error ends the
  // search while `read` may still be running. Empty: the tier reads on the calling thread. Mapped
  // files are read without it.
  std::function<neptune::Status(std::function<void()> read)> read;

  // `stop` and the deadline for code that is evaluated within `read`. Called on any thread, perhaps
  // after the search has returned, so it owns all that it uses. Returns true early enough for an
  // answer to arrive in time. May be empty.
  std::function<bool()> stop_read;
};

struct TierInfo {
  std::string implementation;
  uint64_t index_version = 0;
  uint64_t document_count = 0;
  bool reads_store = false;  // searches use TierSearchControl::read
};

class IndexTier {
 public:
  virtual ~IndexTier() = default;

  // Returns the best hit_count_max documents of this partition that match, best first, equal scores
  // by ascending doc_id, and the number of matches: exact if count_exactly, else a lower bound.
  // With a second_phase_count, hits are as MergeTierAnswers (operators.h) yields for a single
  // answer.
  virtual neptune::StatusOr<TierAnswer> Search(const TierQuery& query,
                                               const TierSearchControl& control) const = 0;

  virtual TierInfo Info() const = 0;

  // Reads the files of the open tier again, about `size` bytes a call, while searches run; returns
  // how many bytes it read, 0 once it has read all, DATA_LOSS if they are not what they were. Must
  // not outlive the tier. Default: empty, for engines that check what they read each time, or not.
  virtual std::function<neptune::StatusOr<size_t>(size_t size)> StartCheck() const {
    return nullptr;
  }

  // The best completions of this partition, and the spellings of the whole collection, with
  // collection-wide counts (index/suggest). REQUIRES: a request that suggest_operators.h accepts.
  // Errors: UNIMPLEMENTED, the default, if the implementation or the index has no suggestions, or
  // this partition no dictionary.
  virtual neptune::StatusOr<SuggestAnswer> Suggest(const SuggestQuery& query) const {
    return neptune::Unimplemented("index tier ", Info().implementation, " has no suggestions");
  }
  virtual neptune::StatusOr<SpellAnswer> Spell(const SpellQuery& query) const {
    return neptune::Unimplemented("index tier ", Info().implementation, " has no suggestions");
  }

  // How the scores of those documents came about that this partition holds, with the numbers of
  // Search; changes between the two calls show. REQUIRES: a request that explain_operators.h
  // accepts.
  // Default: the answer says that the implementation cannot explain.
  virtual neptune::StatusOr<ExplainAnswer> Explain(const ExplainQuery& query) const {
    ExplainAnswer answer;
    const TierInfo info = Info();
    answer.add_cannot_explain(info.implementation);
    answer.set_index_version(info.index_version);
    return answer;
  }

  // Counts all matching documents by site (facet_operators.h). REQUIRES: a request that
  // facet_operators.h accepts.
  // Default: the answer says that the implementation cannot count.
  virtual neptune::StatusOr<FacetAnswer> CountSites(const FacetQuery& query,
                                                    const TierSearchControl& control) const {
    FacetAnswer answer;
    const TierInfo info = Info();
    answer.add_cannot_count(info.implementation);
    answer.set_is_complete(true);
    answer.set_index_version(info.index_version);
    return answer;
  }
};

}  // namespace search::index
