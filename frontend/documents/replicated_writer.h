// A DocumentWriter over the replicated partitions of the tiers and of the document servers.
//
// A request with a name learns its versions from the partition of the document servers that its key's hash says: the first of the
// name brings its own, and those sent again get the same ones, through whichever frontend. A change that comes again with its
// version changes nothing where it was made, and is made where it was not.
//
// Document servers are written before tiers, so that what is found can be shown. They are asked first which documents have
// the urls of edits that bring no number.
//
// Threads: thread-safe; Write on user-level threads of the node.
// Units: versions as index/updates/document_change.h: of two writers the one with the later clock wins.
// Errors: as DocumentWriter.

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
  // Gives edits that name a url the number of the document that has it.
  neptune::Status FindUrls(std::vector<DocumentEdit>* edits, neptune::TimePoint deadline) const;
  // Those of the documents that tier 2 holds.
  neptune::StatusOr<std::set<uint64_t>> InTier2(const std::vector<PlacedEdit>& edits,
                                                neptune::TimePoint deadline) const;
  // The first of so many versions in a row that no other edits of this writer have.
  uint64_t AllocateVersions(size_t count);
  // The same, for a request that has a name: as when it came first.
  neptune::StatusOr<uint64_t> VersionsOf(const Order& order);

  neptune::Client& client_;
  neptune::World& world_;
  const ReplicatedWriterOptions options_;
  std::atomic<uint64_t> last_version_{0};
};

}  // namespace search::frontend
