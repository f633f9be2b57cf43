// A mutable partition: a set of immutable segments, bitmaps of their live documents, and a manifest
// that lists both. Documents are added, replaced and deleted in batches; segments are merged while
// searches and updates go on.
//
// Source: log-structured merging as in Lucene; README.md.
// Reads and writes files below one directory; no clock, no threads of its own.
// Threads: snapshot() from any thread, without waiting for a writer's I/O; updates and merges from
//   any thread: updates are serialized, and at most one merge runs concurrently with them.
// Errors: INVALID_ARGUMENT for an invalid document; DATA_LOSS for a damaged file; UNAVAILABLE for
//   file system errors. After a failed commit, which may or may not be on disk, every change is
//   refused with FAILED_PRECONDITION until the directory is reopened; searches continue.
// Limits: one process per directory. An update uses memory_size_max and the builder's own memory.
//
// Crash safety: an acknowledged change survives a crash at any moment; an unacknowledged change is
// on disk completely or not at all. Open removes files that a crash left over.

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
  // Durability of the files. kUnsynced is for an owner that keeps the documents elsewhere: the
  // files live as long as the object, Open removes what it finds in the directory and starts empty,
  // and neither Open nor any later change waits for the disk.
  Durability durability = Durability::kSynced;
  // Directory of a published segment with its statistics, opened read-only: the partition's initial
  // documents. All segments rank by these statistics until UseTerms. Empty: none. Only with
  // kUnsynced.
  std::string base_directory;
};

// One change, applied atomically: first the deletions, then the documents.
struct PartitionUpdate {
  // In any order. A document replaces the one with the same doc_id; within a batch the last one
  // wins.
  std::vector<IndexedDocument> documents;
  // doc_ids that are not in the partition are ignored.
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

  // Behaves like Searcher::Search over one segment of all live documents under the same collection
  // terms; ignores options.live_documents.
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
  // The published segment below this partition, as it was published; nullptr: none.
  const Segment* base() const { return base_ == nullptr ? nullptr : &base_->segment(); }

  neptune::Status Update(const PartitionUpdate& update);
  // Moves in the segment of a directory that a builder finished; its documents replace those with
  // the same doc_id. REQUIRES: the same file system.
  neptune::Status AddSegment(const std::string& built_directory);

  // Runs one merge that the policy asks for; false if there is none. Documents that are deleted
  // during the merge are deleted in the result as well.
  neptune::StatusOr<bool> Merge();
  // Runs one step of a merge, so that other work can run in between: choosing the segments and
  // ordering the documents; writing terms until they have `posting_count_max` postings, the last
  // term as a whole; assembling the segment and replacing its inputs.
  neptune::StatusOr<MergeProgress> MergeSome(uint64_t posting_count_max);

  // Ranks by these collection terms from now on; the file is copied. All partitions of a collection
  // must be given the same terms. Over a base, terms that are not in the file keep their published
  // counts.
  neptune::Status UseTerms(const std::string& path);
  // Writes the counts of the live documents to `path`, to be added to the counts of other
  // partitions or used as they are.
  neptune::Status CountTerms(const std::string& path) const;
  // The same as differences from the published counts; `scratch_path` is a temporary file that is
  // removed.
  // REQUIRES: base() is not null.
  neptune::StatusOr<ChangedTerms> CountChangedTerms(const std::string& scratch_path) const;
  // The published document frequency of the term in the whole collection; 0 for a term that the
  // base does not hold. REQUIRES: base() is not null.
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
  // Adds the segment with this number (0: none), and applies the deletions.
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
  std::shared_ptr<const CollectionCounts> published_;  // counts of the base; fixed after Load

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
