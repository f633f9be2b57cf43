// One renewal of the statistics of the whole collection, from counting to publishing.
//
//   every partition ── ChangedTerms, a stream of pages ──► sum ── terms without counts ──► every
//                                                           │ ◄── PublishedFrequencies ── partition
//                                                           ▼
//   every partition ◄── Change: pieces of a new version; all last pieces come after all others
//
// A partition uses a version once it has the last piece, so all partitions switch within the time
// of a few writes. An attempt that is cut off does no harm: versions take effect whole or not at
// all, and the largest version that a partition received wins.
//
// Threads: runs on a user-level thread of a loop of the node; long computations run on
//   `background`.
// Errors: those of the calls; FAILED_PRECONDITION if partitions have different base indexes;
//   RESOURCE_EXHAUSTED over a limit.
// Limits: holds kCollectedSizeMax bytes of pages and kChangedTermsMax terms in memory; message
//   limits as in statistics_messages.h and index/updates/document_change.h. Calls one partition at
//   a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "index/core/partition/changed_terms.h"
#include "index/tier/statistics/renewal_policy.h"
#include "index/updates/document_change.pb.h"
#include "neptune/base/status.h"
#include "neptune/service/client.h"
#include "neptune/world/loop.h"

namespace search::index {

inline constexpr size_t kCollectedSizeMax = size_t{256} << 20;

// A partition of either tier.
struct TierPartition {
  neptune::ServiceName service;
  neptune::PartitionId partition;
};
// All partitions of both tiers, tier 2 first: cached answers are keyed by the epoch of tier 1,
// which must therefore change last.
std::vector<TierPartition> AllPartitions(uint32_t tier1_count, uint32_t tier2_count);

class RenewalAttempt {
 public:
  // `session` carries the deadline; `path` is a temporary file, which is removed.
  RenewalAttempt(const neptune::ClientSession& session, std::vector<TierPartition> partitions,
                 neptune::Loop& background, std::string path)
      : session_(session),
        partitions_(std::move(partitions)),
        background_(background),
        path_(std::move(path)) {}

  neptune::StatusOr<std::vector<PartitionStatistics>> AskStates();
  neptune::Status Renew(uint64_t version);

 private:
  neptune::Status Collect(const TierPartition& partition);
  neptune::Status AddUp();
  neptune::Status AskUnknown();
  neptune::Status WriteChanges(uint64_t version);
  neptune::Status Publish();
  template <typename Work>
  neptune::Status InBackground(Work work);

  neptune::ClientSession session_;
  const std::vector<TierPartition> partitions_;
  neptune::Loop& background_;
  const std::string path_;

  std::vector<std::string> pages_;
  size_t page_bytes_ = 0;
  uint64_t index_version_ = 0;
  uint64_t change_count_ = 0;
  ChangedTermsSum sum_;
  std::vector<PartitionChange> changes_;
};

// Runs `work` on the loop; parks the calling user-level thread until it has finished.
void RunOnLoop(neptune::Loop& loop, const std::function<void()>& work);

}  // namespace search::index
