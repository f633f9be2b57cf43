// A mutable partition: a set of immutable segments, bitmaps of their live documents, and a manifest
// that names the current ones. Documents are added, replaced and deleted in batches; segments are
// merged while searches and updates continue.
//
// Source: log-structured merging as in Lucene; README.md.
// Reads and writes files below one folder; no clock, no threads of its own.
// Threads: snapshot() from any thread, never waits for a writer's files. Updates and merges from
//   any thread: updates are serialized, and at most one merge runs concurrently with them.
// Errors: INVALID_ARGUMENT for an invalid document; DATA_LOSS for a damaged file; UNAVAILABLE for
//   the file system. After a failed commit it is unknown whether the commit is on disk, so every
//   change fails with FAILED_PRECONDITION until the folder is opened again; searches continue.
// Limits: one process per folder. An update takes memory_size_max plus the builder's own memory.
//
// Crash safety: a change that returned OK survives a crash at any moment; a change that was not yet
//   acknowledged is applied wholly or not at all. Open removes files that a crash left.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/builder/segment_rewriter.h"
#include "index/core/document.h"
#include "index/core/partition/changed_terms.h"
#include "index/core/partition/collection_counts.h"
#include "index/core/partition/manifest.h"
#include "index/core/partition/merge_policy.h"
#include "index/core/partition/searchable_segment.h"
#include "index/core/segment/section_file.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"

namespace search::index {

struct PartitionOptions {
  // Created if absent.
  std::string directory;
  RankingOptions ranking = {};
  MergePolicyOptions merging = {};
  // Memory for inverting one update. Default: enough for 20,000 pages without a spill.
  size_t memory_size_max = size_t{64} << 20;
  // Durability of the files. kUnsynced: files live only as long as the object, for an owner that
  // keeps the documents elsewhere. Open then removes everything in the folder and starts empty, and
  // neither Open nor later changes wait for the disk.
  Durability durability = Durability::kSynced;
  // Folder of a published segment with its statistics, opened read-only: the partition's first
  // documents. All segments rank by these statistics until UseTerms. Empty: none. Requires
  // kUnsynced.
  std::string base_directory;
};

// One atomic change: first the deletions, then the documents.
struct PartitionUpdate {
  // In any order. A document replaces the one with its doc_id; later ones in a batch replace
  // earlier ones.
  std::vector<IndexedDocument> documents;
  // Ids that do not exist are ignored.
  std::vector<uint64_t> deleted;
};

// The partition at one point in time. Keeps its files until it is destroyed.
class PartitionSnapshot {
 public:
  struct Part {
    std::shared_ptr<const SearchableSegment> segment;
    std::shared_ptr<const LiveDocuments> live;  // nullptr: all
  };

  PartitionSnapshot(uint64_t epoch, std::vector<Part> parts)
      : epoch_(epoch), parts_(std::move(parts)) {}

  // Behaves as Searcher::Search over one segment of all live documents under the same collection
  // terms; ignores the options' own live documents.
  neptune::StatusOr<SearchResult> Search(const Query& query, const SearchOptions& options) const;
  bool Holds(uint64_t doc_id) const;

  // Increases with every change.
  uint64_t epoch() const { return epoch_; }
  uint64_t live_count() const;
  const std::vector<Part>& parts() const { return parts_; }

 private:
  const uint64_t epoch_;
  const std::vector<Part> parts_;
};

enum class MergeProgress { kNothingToDo, kUnderWay, kMerged };

class Partition {
 public:
  // Opens the directory; one without a manifest becomes an empty partition.
  static neptune::StatusOr<std::unique_ptr<Partition>> Open(PartitionOptions options);
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  std::shared_ptr<const PartitionSnapshot> snapshot() const;
  // The published segment below the changes, as it was published; nullptr: none.
  const Segment* base() const { return base_ == nullptr ? nullptr : &base_->segment(); }

  neptune::Status Update(const PartitionUpdate& update);
  // Moves in the segment of a folder that a builder finished; its documents replace those with the
  // same doc_id. REQUIRES: the same file system.
  neptune::Status AddSegment(const std::string& built_directory);

  // Runs one merge that the policy selects; false if there is none. Documents that are deleted in
  // the meantime are also deleted in the result.
  neptune::StatusOr<bool> Merge();
  // Runs one piece of the merge, so that other work can run in between. Pieces are: choosing and
  // ordering documents; writing terms until they had `posting_count_max` postings, the last term
  // whole; assembling the segment and replacing its inputs by it.
  neptune::StatusOr<MergeProgress> MergeSome(uint64_t posting_count_max);

  // Ranks by these collection terms from now on; the file is copied. All partitions of a collection
  // must use the same terms. Over a base, terms that are not in the file keep their published
  // counts.
  neptune::Status UseTerms(const std::string& path);
  // Writes what lives now to `path`, to be added to the counts of other partitions, or used as it
  // is.
  neptune::Status CountTerms(const std::string& path) const;
  // Counts the terms' differences from the published segment. `scratch_path` is a temporary file,
  // removed before the call returns.
  // REQUIRES: base() is not null.
  neptune::StatusOr<ChangedTerms> CountChangedTerms(const std::string& scratch_path) const;
  // Number of documents of the collection that held the term when the base was published; 0 for a
  // term that the base does not hold. REQUIRES: base() is not null.
  neptune::StatusOr<uint32_t> PublishedFrequency(std::string_view key) const;

 private:
  using Part = PartitionSnapshot::Part;
  using Parts = std::vector<Part>;

  explicit Partition(PartitionOptions options) : options_(std::move(options)) {}

  struct PendingMerge {
    Parts inputs;
    uint64_t number = 0;
    std::unique_ptr<SegmentRewrite> rewrite;
    bool is_written = false;
  };

  neptune::Status Load();
  neptune::Status LoadManifest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  neptune::Status LoadBase() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  neptune::StatusOr<Part> LoadPart(const ManifestSegment& entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  uint64_t NextNumber();
  neptune::Status BuildSegment(const std::vector<IndexedDocument>& documents,
                               const std::string& directory) const;
  // Adds the segment with this number (0: none) and applies the deletions.
  neptune::Status Add(uint64_t number, const std::vector<uint64_t>& deleted);
  neptune::Status BeginMerge() ABSL_EXCLUSIVE_LOCKS_REQUIRED(merge_mutex_);
  neptune::StatusOr<MergeProgress> ContinueMerge(uint64_t posting_count_max)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(merge_mutex_);
  neptune::Status FinishMerge(const Parts& inputs, uint64_t number);

  neptune::Status Commit(Parts parts, uint64_t terms_version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  neptune::Status WriteManifestOf(const Parts& parts, Manifest* manifest)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);
  neptune::Status WriteLiveDocuments(const Parts& parts, Manifest* manifest)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_);

  PartitionOptions options_;                           // fixed after Load
  std::shared_ptr<SegmentFolder> base_;                // fixed after Load
  std::shared_ptr<const CollectionCounts> published_;  // counts of the base, fixed after Load

  // Held while a change is computed and committed, which serializes changes.
  neptune::LeafMutex change_mutex_;
  Manifest manifest_ ABSL_GUARDED_BY(change_mutex_);
  std::shared_ptr<const CollectionCounts> counts_ ABSL_GUARDED_BY(change_mutex_);
  uint64_t next_number_ ABSL_GUARDED_BY(change_mutex_) = 1;
  neptune::Status failure_ ABSL_GUARDED_BY(change_mutex_);

  neptune::LeafMutex merge_mutex_ ABSL_ACQUIRED_BEFORE(change_mutex_);
  std::unique_ptr<PendingMerge> pending_merge_ ABSL_GUARDED_BY(merge_mutex_);

  // Held only while the snapshot pointer is read or replaced.
  mutable neptune::LeafMutex snapshot_mutex_ ABSL_ACQUIRED_AFTER(change_mutex_);
  std::shared_ptr<const PartitionSnapshot> snapshot_ ABSL_GUARDED_BY(snapshot_mutex_);
};

}  // namespace search::index
