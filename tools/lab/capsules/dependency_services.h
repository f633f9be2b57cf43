// The capsule paper's services as simulated clusters: a caller tier on the node "front", what it depends on, and the
// requests that clients make.
//
//   RET    front ──► partition-0, partition-1, partition-2, all of them
//   AUC    front ──► store-0, store-1 or store-2
//   BBS    front ──► cache-0 or cache-1, then database where the cache has no page
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
  // Services and nodes, in the words of a cluster spec, without the node "front", which hosts the service "front".
  std::string spec;
  // What the front's node has capsules for, each as the rule of one.
  std::vector<std::string> dependencies;
  neptune::ModuleFactory modules;
  // The same for every scheme under one seed.
  std::function<DependencyRequest(uint64_t seed, uint64_t number)> request;
  // What an answer is worth: the share of the partitions in it.
  std::function<double(const neptune::Data& answer)> quality;
  // Whether it came from a cache; may be null.
  std::function<bool(const neptune::Data& answer)> from_cache;
};

struct RetOptions {
  // Mean processor time of one partition's search; all else is in proportion. See RetProfile for where that is from.
  double partition_ms = 0;
  // Every partition must answer, or the request has failed.
  bool all_required = false;
  // A request that has failed at one partition is not stopped at the others.
  bool uncancelled = false;
};
// Searches so long that `rate_per_s` of them are this share of what a partition's node can do.
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
