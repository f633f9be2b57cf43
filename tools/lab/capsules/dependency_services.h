// The services of the capsule paper as clusters: a caller tier on the node "front", its
// dependencies, and the requests of clients.
//
//   RET    front ──► partition-0, partition-1 and partition-2
//   AUC    front ──► store-0, store-1 or store-2
//   BBS    front ──► cache-0 or cache-1, then the database if the cache lacks the page
//
// Source: [Chu05] VI.A, figure 5.
// Threads: values; a request is a pure function of its seed and number.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "neptune/node/node.h"
#include "neptune/service/client.h"
#include "tools/lab/capsules/dependency_parameters.h"

namespace search::lab {

struct DependencyRequest {
  neptune::MethodName method;
  neptune::AccessMode access = neptune::AccessMode::kRead;
  neptune::Data data;
};

struct DependencyService {
  std::string name;
  // Services and nodes in cluster spec syntax, without the node "front", which hosts the service
  // "front".
  std::string spec;
  // The rules of the capsules of the front's node, one for each dependency.
  std::vector<std::string> dependencies;
  neptune::ModuleFactory modules;
  // The request of a number; the same for all schemes under one seed.
  std::function<DependencyRequest(uint64_t seed, uint64_t number)> request;
  // The quality of an answer: its share of the partitions.
  std::function<double(const neptune::Data& answer)> quality;
  // Whether an answer came from a cache; may be null.
  std::function<bool(const neptune::Data& answer)> from_cache;
};

struct RetOptions {
  // Mean processor time of a search of one partition, to which all other costs are proportional.
  // See RetProfile for the origin of the proportions.
  double partition_ms = 0;
  // If true, a request fails unless every partition answers.
  bool all_required = false;
  // If true, a request that failed at one partition is not cancelled at the others.
  bool uncancelled = false;
};
// The search time at which `rate_per_s` searches use `load_share` of the capacity of a partition's
// node.
double RetPartitionMs(double rate_per_s, double load_share);
DependencyService RetService(const RetOptions& options);

// Mean processor time of a request at each node.
struct AucOptions {
  int front_us = kAucFrontUs;
  int store_us = kAucStoreUs;
};
DependencyService AucService(const AucOptions& options = {});

struct BbsOptions {
  int front_us = kBbsFrontUs;
  int cache_us = kBbsCacheUs;
  int database_us = kBbsDatabaseUs;
};
DependencyService BbsService(const BbsOptions& options = {});

}  // namespace search::lab
