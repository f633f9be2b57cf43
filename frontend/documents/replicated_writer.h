// A DocumentWriter over the replicated partitions of the tiers and of the document servers.
//
// A request with an idempotency key gets its versions from the partition of the document servers
// that the hash of the key selects: the first request registers its own versions, and repeated
// requests get the same ones through any frontend. A repeated change has no effect where it was
// already applied and is applied where it was not.
//
// Document servers are written before tiers, so that every document that is found can be shown.
// Before that they are asked for the numbers of the documents that edits identify only by url.
//
// Threads: thread-safe; Write on user-level threads of the node.
// Units: versions as in index/updates/document_change.h; of two writers the one with the later
//   clock wins.
// Errors: those of DocumentWriter.

#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <vector>

#include "frontend/documents/document_routing.h"
#include "frontend/documents/document_writer.h"
#include "neptune/service/client.h"
#include "neptune/world/world.h"

namespace search::frontend {

struct ReplicatedWriterOptions {
  DocumentPartitions partitions;
  // See BelongsToTier1. Parameter tier1_rank_min.
  double tier1_rank_min = 0;
};

class ReplicatedWriter final : public DocumentWriter {
 public:
  ReplicatedWriter(neptune::Client& client, neptune::World& world,
                   const ReplicatedWriterOptions& options)
      : client_(client), world_(world), options_(options) {}

  std::vector<Written> Write(const Order& order) override;

 private:
  // Sets the number of each edit by url to that of the document with this url. Returns the edits by
  // a new url whose number is that of a document with another url.
  neptune::StatusOr<std::set<const DocumentEdit*>> FindUrls(std::vector<DocumentEdit>* edits,
                                                            neptune::TimePoint deadline) const;
  // Returns the numbers of the documents that tier 2 holds.
  neptune::StatusOr<std::set<uint64_t>> InTier2(const std::vector<PlacedEdit>& edits,
                                                neptune::TimePoint deadline) const;
  // Reserves `count` consecutive versions that this writer has not used; returns the first.
  uint64_t AllocateVersions(size_t count);
  // Like AllocateVersions, but a repeated request with a name gets the versions of the first one.
  neptune::StatusOr<uint64_t> VersionsOf(const Order& order);

  neptune::Client& client_;
  neptune::World& world_;
  const ReplicatedWriterOptions options_;
  std::atomic<uint64_t> last_version_{0};
};

}  // namespace search::frontend
