// The index tier "segment" with changing documents: a read-only published partition, plus small
// segments of the documents that changed since.
//
//   state executes a change ──► NoteChange ──► Refresh, soon ──► searchable
//                                                └─ reads the changes, makes a segment
//   MergeSome, periodically: merges segments
//
// The searchable documents are a function of the published partition and the state; the segments
// are rebuilt from both on open, so nothing here needs to be durable. A change becomes searchable
// at the next Refresh after NoteChange; the owner calls Refresh at most kRefreshInterval after the
// first unrefreshed change.
//
// Reads and writes files; no clock, no threads.
// Threads: thread-safe. Searches take a snapshot and never wait; Refresh and MergeSome may run
//   concurrently with them and with each other, each on one thread at a time. NoteChange never
//   waits for either. CountChangedTerms may run concurrently with all.
// Errors: as in index_tier.h; Open and Refresh also return the state's errors, and UNAVAILABLE for
//   the file system. After an error of Refresh the next one retries the same changes. DATA_LOSS
//   also if a file was changed while it was read; Rebuild mends that if the published files are
//   sound.
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
#include "index/tier/index_tier.h"
#include "index/tier/segment/segment_messages.h"
#include "index/updates/change_state.h"
#include "index/updates/document_change.pb.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::index {

// Maximal wait of a change for a Refresh. Larger: fewer segments to build and merge. Default: with
// the duration of the Refresh itself, well within the two seconds in which a document must become
// searchable.
inline constexpr neptune::Duration kRefreshInterval = std::chrono::milliseconds(200);

// Maximal size of the texts that one segment is built from, in bytes.
inline constexpr size_t kRefreshSizeMax = size_t{32} << 20;

struct LiveTierOptions {
  // A sealed partition of the variant "segment".
  std::string base_directory;
  // Folder for segments of changed documents; emptied on open. Only one process may use it at a
  // time.
  std::string working_directory;
  // Default: fewer segments per search than for bulk updates, at the cost of writing a document
  // more often; segments up to this many documents count as small, so that the first merges, of
  // segments from single changes, take milliseconds.
  MergePolicyOptions merging = {.merge_count = 4, .documents_min = 100};
};

class LiveTier final : public IndexTier {
 public:
  // `state` must outlive the tier. Builds segments of all documents in it.
  static neptune::StatusOr<std::unique_ptr<LiveTier>> Open(LiveTierOptions options,
                                                           const ChangeReader* state);

  neptune::StatusOr<TierAnswer> Search(const TierQuery& tier_query,
                                       const TierSearchControl& control) const override;
  // Counts the live documents.
  TierInfo Info() const override;
  // Suggestions come from the published partition.
  neptune::StatusOr<SuggestAnswer> Suggest(const SuggestQuery& query) const override;
  neptune::StatusOr<SpellAnswer> Spell(const SpellQuery& query) const override;
  neptune::StatusOr<ExplainAnswer> Explain(const ExplainQuery& query) const override;
  neptune::StatusOr<FacetAnswer> CountSites(const FacetQuery& query,
                                            const TierSearchControl& control) const override;

  // Call it after the state has executed `change`.
  void NoteChange(const PartitionChange& change);
  // Call after the state was replaced by another one.
  void NoteRestore();

  // Makes the changes noted so far searchable. False: there were none.
  neptune::StatusOr<bool> Refresh();
  // Opens the published partition's files again, and builds all segments of changed documents again
  // from the state: after damage was found. Searches go on in the previous ones. After an error
  // nothing has changed. Runs as Refresh does.
  neptune::Status Rebuild();
  // Runs Partition::MergeSome.
  neptune::StatusOr<MergeProgress> MergeSome(uint64_t posting_count_max);

  // Every search that begins from now on includes at least the writes up to this one.
  uint64_t searchable_lsn() const { return searchable().lsn; }
  // True if the tier holds the document.
  bool Holds(uint64_t doc_id) const;
  uint64_t segment_count() const;

  // The renewed statistics used for ranking; version 0: the published ones.
  struct StatisticsUsed {
    uint64_t version = 0;
    uint64_t change_count = 0;  // as in StatisticsPiece
  };
  StatisticsUsed statistics() const;
  // Counts the changes among the searchable documents, to be added up over all partitions of both
  // tiers; the sum goes to every partition by StatisticsChanges. Runs on one thread at a time.
  neptune::StatusOr<ChangedTerms> CountChangedTerms() const;
  // See Partition::PublishedFrequency.
  neptune::StatusOr<uint32_t> PublishedFrequency(std::string_view key) const;

 private:
  // Changes that the next Refresh must apply.
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
  neptune::Status AdoptFrom(const std::string& folder)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  neptune::Status UseStatistics(Partition* partition) ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  neptune::StatusOr<StatisticsUsed> UseStatisticsOfState(Partition* partition)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  LastWriteName searchable() const;
  std::shared_ptr<Partition> partition() const;
  std::shared_ptr<const SuggestionFiles> suggestions() const;

  const LiveTierOptions options_;
  const ChangeReader* const state_;
  uint64_t index_version_ = 0;  // fixed by Open

  neptune::LeafMutex refresh_mutex_;
  // Number of the last directory below the working directory; numbers are not reused.
  uint64_t folder_number_ ABSL_GUARDED_BY(refresh_mutex_) = 0;
  std::string folder_ ABSL_GUARDED_BY(refresh_mutex_);  // of the partition; empty: there is none
  // The newest version in the state that was examined.
  uint64_t statistics_version_ ABSL_GUARDED_BY(refresh_mutex_) = 0;

  // Held only while the fields below are read or replaced.
  mutable neptune::LeafMutex mutex_ ABSL_ACQUIRED_AFTER(refresh_mutex_);
  std::shared_ptr<Partition> partition_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const SuggestionFiles> suggestions_ ABSL_GUARDED_BY(mutex_);
  Noted noted_ ABSL_GUARDED_BY(mutex_);
  LastWriteName searchable_ ABSL_GUARDED_BY(mutex_);
  StatisticsUsed statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::index
