// A whole search on loopback, in this process: a frontend and two nodes that hold two partitions
// each of the index and the document store, with real sockets, real threads and the modules of a
// cluster.
//
// Threads: the calling thread blocks; each node has several kernel threads.
// Errors: kUnavailable a node did not start, or the frontend did not find all partitions.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/unique_port.h"
#include "neptune/testing/real_node.h"
#include "neptune/world/network.h"
#include "tools/lab/workloads/synthetic_index.h"

namespace search::frontend {
class FrontendModule;
}

namespace search::lab {

struct MadeSearchOptions {
  // The tier's time_limit block in cluster spec syntax; empty: none.
  std::string time_limit;
  // Queue bound of the tier; 40 is its default.
  uint32_t queue_length_max = 40;
  // The tier's service classes in cluster spec syntax; a request names its class. Empty: none.
  std::string service_classes;
  // Further fields of the tier and the frontend, in cluster spec syntax.
  std::string service_fields;
};

class SyntheticSearch {
 public:
  // REQUIRES: the index outlives it.
  static neptune::StatusOr<std::unique_ptr<SyntheticSearch>> Start(
      const SyntheticIndex& index, const MadeSearchOptions& options);
  ~SyntheticSearch();

  // The endpoint that serves /search.
  neptune::Endpoint http_endpoint() const;

 private:
  SyntheticSearch() = default;
  neptune::Status StartNode(const neptune::ClusterSpec& spec, const std::string& name,
                            const SyntheticIndex& index);
  // Waits until the frontend knows every partition.
  neptune::Status Meet();

  const neptune::UniquePort port_;
  frontend::FrontendModule* frontend_ = nullptr;
  std::vector<std::unique_ptr<neptune::RealNode>> nodes_;
};

}  // namespace search::lab
