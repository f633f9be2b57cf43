// The index tier "segment" with documents that change: a published partition, which is only read,
// and small segments of the documents that have changed since.
//
//   state executes a change ──► NoteChange ──► Refresh, soon ──► searchable
//                                                └─ reads the noted changes from the state and
//                                                   builds one segment of them
//   MergeSome, in the background: merges many segments into few
//
// The searchable contents are a function of the published partition and the state; opening the tier
// rebuilds the segments from both, so no file here needs to be durable. A change becomes searchable
// not when NoteChange returns but with the next Refresh, which the owner calls at most
// kRefreshInterval after the first change that is not yet searchable.
//
// Reads and writes files; no clock, no threads.
// Threads: thread-safe. Searches take a snapshot and never wait; Refresh and MergeSome may run
//   concurrently with them and with each other, each on one thread at a time. NoteChange never
//   waits for either. CountChangedTerms may run concurrently with all.
// Errors: those of index_tier.h; Open and Refresh also give the state's, and UNAVAILABLE for file
//   system errors. After an error of Refresh the next one retries the same changes.
// Limits: memory is that of the searchers, about 12 bytes per change not yet refreshed, and
//   kRefreshSizeMax of texts.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "index/core/partition/changed_terms.h"
#include "index/core/partition/merge_policy.h"
#include "index/core/partition/partition.h"
#include "index/suggest/suggestion_index.h"
#include "index/tier/index_tier.h"
#include "index/updates/change_state.h"
#include "index/updates/document_change.pb.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::index {

// Maximum time that a change waits for a Refresh. Larger: fewer segments to build and merge.
// Default: together with the Refresh itself well within the two seconds in which a document must
// become searchable.
inline constexpr neptune::Duration kRefreshInterval = std::chrono::milliseconds(200);

// Maximum size of the texts from which one segment is built.
inline constexpr size_t kRefreshSizeMax = size_t{32} << 20;

struct LiveTierOptions {
  // A sealed partition of the variant "segment".
  std::string base_directory;
  // Directory for segments of changed documents; emptied by Open. One process at a time.
  std::string working_directory;
  // Default: fewer segments to search than with bulk loads, at the price of rewriting a document
  // more often; documents_min is small enough for the first merges, of segments of single changes,
  // to take only milliseconds.
  MergePolicyOptions merging = {.merge_count = 4, .documents_min = 100};
};

class LiveTier final : public IndexTier {
 public:
  // `state` must outlive the tier. Builds segments of all documents in it.
  static neptune::StatusOr<std::unique_ptr<LiveTier>> Open(LiveTierOptions options,
                                                           const ChangeReader* state);

  neptune::StatusOr<TierAnswer> Search(const TierQuery& question,
                                       const TierSearchControl& control) const override;
  // Counts the live documents.
  TierInfo Info() const override;
  // Suggestions are those of the published partition.
  neptune::StatusOr<SuggestAnswer> Suggest(const SuggestQuery& query) const override;
  neptune::StatusOr<SpellAnswer> Spell(const SpellQuery& query) const override;

  // Call it after the state has executed `change`.
  void NoteChange(const PartitionChange& change);
  // Call it after the state was replaced as a whole.
  void NoteRestore();

  // Makes all changes noted so far searchable. Returns false if there were none.
  neptune::StatusOr<bool> Refresh();
  // See Partition::MergeSome.
  neptune::StatusOr<MergeProgress> MergeSome(uint64_t posting_count_max);

  // Every search that begins from now on includes at least the writes up to this one.
  uint64_t searchable_lsn() const { return searchable().lsn; }
  // True if the tier holds the document.
  bool Holds(uint64_t doc_id) const;
  uint64_t segment_count() const;

  // The renewed statistics used for ranking; version 0: the published ones.
  struct StatisticsUsed {
    uint64_t version = 0;
    uint64_t change_count = 0;  // see StatisticsPiece
  };
  StatisticsUsed statistics() const;
  // Counts the changes of the searchable contents, to be summed up over all partitions of both
  // tiers; every partition receives the sum by StatisticsChanges. Call it from one thread at a
  // time.
  neptune::StatusOr<ChangedTerms> CountChangedTerms() const;
  // See Partition::PublishedFrequency.
  neptune::StatusOr<uint32_t> PublishedFrequency(std::string_view key) const;

 private:
  // The changes that the next Refresh processes.
  struct Noted {
    bool any = false;
    bool all = false;
    bool statistics = false;
    absl::flat_hash_set<uint64_t> doc_ids;
  };

  LiveTier(LiveTierOptions options, const ChangeReader* state)
      : options_(std::move(options)), state_(state) {}

  neptune::Status Take(const Noted& noted) ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  neptune::Status AdoptAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  neptune::Status UseStatistics(Partition* partition) ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  neptune::StatusOr<StatisticsUsed> UseStatisticsOfState(Partition* partition)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  LastWriteName searchable() const;
  std::shared_ptr<Partition> partition() const;

  const LiveTierOptions options_;
  const ChangeReader* const state_;
  uint64_t index_version_ = 0;                    // fixed by Open
  std::unique_ptr<SuggestionIndex> suggestions_;  // fixed by Open; null: the index has none

  neptune::LeafMutex refresh_mutex_;
  // Number of the current directory below the working directory; numbers are not reused.
  uint64_t folder_number_ ABSL_GUARDED_BY(refresh_mutex_) = 0;
  // The newest version in the state that was examined.
  uint64_t statistics_version_ ABSL_GUARDED_BY(refresh_mutex_) = 0;

  // Held only while the fields below are read or replaced.
  mutable neptune::LeafMutex mutex_ ABSL_ACQUIRED_AFTER(refresh_mutex_);
  std::shared_ptr<Partition> partition_ ABSL_GUARDED_BY(mutex_);
  Noted noted_ ABSL_GUARDED_BY(mutex_);
  LastWriteName searchable_ ABSL_GUARDED_BY(mutex_);
  StatisticsUsed statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::index
