// A whole search on loopback, in the lab's own process: a frontend and two nodes that hold two partitions each of the
// index and the document store, with real sockets, real threads and the modules that a cluster loads.
//
// Threads: the caller's waits; several kernel threads a node.
// Errors: kUnavailable a node did not start, or the frontend does not find all partitions.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/world/network.h"
#include "tools/lab/workloads/synthetic_index.h"
#include "tools/process/real_node.h"

namespace search::frontend {
class FrontendModule;
}

namespace search::lab {

struct MadeSearchOptions {
  // In the cluster spec's words, what stands in the tier's time_limit; empty: none.
  std::string time_limit;
  // Of the tier; its default: 40.
  uint32_t queue_length_max = 40;
  // In the cluster spec's words, its service classes; requests are of the one that they name. Empty: none.
  std::string service_classes;
  // Further fields of the tier and the frontend, in the cluster spec's words.
  std::string service_fields;
};

class SyntheticSearch {
 public:
  // REQUIRES: the index outlives it.
  static neptune::StatusOr<std::unique_ptr<SyntheticSearch>> Start(
      const SyntheticIndex& index, const MadeSearchOptions& options);
  ~SyntheticSearch();

  // Where it answers /search.
  neptune::Endpoint http_endpoint() const;

 private:
  SyntheticSearch() = default;
  neptune::Status StartNode(const neptune::ClusterSpec& spec, const std::string& name,
                            const SyntheticIndex& index);
  // Until the frontend knows every partition.
  neptune::Status Meet();

  const neptune::UniquePort port_;
  frontend::FrontendModule* frontend_ = nullptr;
  std::vector<std::unique_ptr<RealNode>> nodes_;
};

}  // namespace search::lab
