// The index tier "segment" whose documents change: a published partition, which is only read, and small segments of the
// documents that changed since.
//
//   state executes a change ──► NoteChange ──► Refresh, soon ──► searchable
//                                                └─ reads what changed in the state, makes one segment of it
//   MergeSome, now and then: few segments of many
//
// What is searchable is a function of the published partition and the state; the segments are made anew from both
// when it is opened, so nothing here needs a disk's promise. A change is not searchable when NoteChange returns but after
// the next Refresh: its owner calls that kRefreshInterval after the first change that it does not know, at the latest.
//
// Reads and writes files; no clock, no threads.
// Threads: thread-safe. Searches take a snapshot and wait for nobody; Refresh and MergeSome may run at once with them and
//   each other, each by one thread at a time. NoteChange never waits for either. CountChangedTerms may run beside all.
// Errors: as index_tier.h; Open and Refresh also the state's, and UNAVAILABLE for the file system. After an error of
//   Refresh the same changes are taken by the next.
// Limits: memory is that of the searchers, some 12 bytes a change not yet refreshed, and kRefreshSizeMax of texts.

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

// How long a change may wait for a Refresh. Larger: fewer segments to make and to merge. Default: with the time of the
// Refresh itself well within the two seconds that a document may take to be found.
inline constexpr neptune::Duration kRefreshInterval = std::chrono::milliseconds(200);

// Bytes of texts that one segment is made of.
inline constexpr size_t kRefreshSizeMax = size_t{32} << 20;

struct LiveTierOptions {
  // A sealed partition of the variant "segment".
  std::string base_directory;
  // For segments of what changed; emptied when opened. One process at a time.
  std::string working_directory;
  // Default: fewer segments for a search than where documents come in bulk, at the price of writing a document more
  // often; segments count as small up to so few documents that the first merges, of what single changes made, are over in
  // milliseconds.
  MergePolicyOptions merging = {.merge_count = 4, .documents_min = 100};
};

class LiveTier final : public IndexTier {
 public:
  // `state` must outlive the tier. Makes segments of all that it holds.
  static neptune::StatusOr<std::unique_ptr<LiveTier>> Open(LiveTierOptions options,
                                                           const ChangeReader* state);

  neptune::StatusOr<TierAnswer> Search(const TierQuery& question,
                                       const TierSearchControl& control) const override;
  // The documents that live.
  TierInfo Info() const override;
  // Suggestions are those of the published partition.
  neptune::StatusOr<SuggestAnswer> Suggest(const SuggestQuery& query) const override;
  neptune::StatusOr<SpellAnswer> Spell(const SpellQuery& query) const override;

  // The state has executed `change`.
  void NoteChange(const PartitionChange& change);
  // The state is another one.
  void NoteRestore();

  // Makes what was noted until now searchable. False: there was nothing.
  neptune::StatusOr<bool> Refresh();
  // As Partition::MergeSome.
  neptune::StatusOr<MergeProgress> MergeSome(uint64_t posting_count_max);

  // Every search that begins from now on knows at least the writes up to this one.
  uint64_t searchable_lsn() const { return searchable().lsn; }
  // Whether the tier holds the document.
  bool Holds(uint64_t doc_id) const;
  uint64_t segment_count() const;

  // The renewed statistics by which it ranks; version 0: those that were published.
  struct StatisticsUsed {
    uint64_t version = 0;
    uint64_t change_count = 0;  // as StatisticsPiece
  };
  StatisticsUsed statistics() const;
  // Counts what changed in what is searchable, to be added up over all partitions of both tiers; the sum goes to every
  // partition by StatisticsChanges. By one thread at a time.
  neptune::StatusOr<ChangedTerms> CountChangedTerms() const;
  // As Partition.
  neptune::StatusOr<uint32_t> PublishedFrequency(std::string_view key) const;

 private:
  // What Refresh has to take.
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
  std::unique_ptr<SuggestionIndex> suggestions_;  // likewise; null: the index was built without

  neptune::LeafMutex refresh_mutex_;
  // Which folder of the working directory is in use; numbers are not used again.
  uint64_t folder_number_ ABSL_GUARDED_BY(refresh_mutex_) = 0;
  // The newest that the state has and that was looked at.
  uint64_t statistics_version_ ABSL_GUARDED_BY(refresh_mutex_) = 0;

  // Held for the exchange of a few words.
  mutable neptune::LeafMutex mutex_ ABSL_ACQUIRED_AFTER(refresh_mutex_);
  std::shared_ptr<Partition> partition_ ABSL_GUARDED_BY(mutex_);
  Noted noted_ ABSL_GUARDED_BY(mutex_);
  LastWriteName searchable_ ABSL_GUARDED_BY(mutex_);
  StatisticsUsed statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::index
