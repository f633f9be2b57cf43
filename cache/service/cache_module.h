// The query cache as a service: each hosted partition is an independent cache.
//
// Parameters (cluster spec):
//   implementation  variant of the registry; default: memory
//   size_mb         maximum size of a partition in MiB; default: 64
//   server          HOST:PORT of the server, for variants that use one; default: 127.0.0.1:6379
//   server_timeout_ms  timeout for connecting and for each part of a reply; default: 50
//   key_prefix      prefix of the keys before the partition's number; default: the service's name
//
// Calls to a variant that waits for a server run on the helper threads of a device capsule: the one
// of the spec whose rule matches disk:/SERVICE-server/**, else one named SERVICE-server. A server
// that hangs then blocks only these threads and the requests that wait for them.
//
// Source: capsules paper, figure 1 (query caches).
// Threads: methods run on any loop of the node; caches are thread-safe.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/result_cache.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/service/service_module.h"

namespace search::cache {

class CacheModule final : public neptune::ServiceModule {
 public:
  neptune::Status Start(neptune::ModuleContext& context) override;
  std::string implementation() const override { return implementation_; }

 private:
  neptune::Status Lookup(neptune::RequestContext& context, const neptune::Data& request,
                         neptune::Data* response);
  neptune::Status Insert(neptune::RequestContext& context, const neptune::Data& request,
                         neptune::Data* response);
  neptune::Status AddMetrics(neptune::ModuleContext& context);
  neptune::Status MakeCaches(const neptune::ModuleContext& context);
  // Makes the capsule with helper threads for caches that wait.
  neptune::Status MakeCapsule(neptune::ModuleContext& context);
  // Runs `ask` on the cache of the request's partition and returns its result. `ask` must own
  // everything it uses, because it may run after the request has ended.
  template <typename Ask>
  auto AskCache(neptune::RequestContext& context, Ask ask)
      -> decltype(ask(std::declval<ResultCache&>()));

  std::string implementation_ = "memory";
  std::map<neptune::PartitionId, std::shared_ptr<ResultCache>> partitions_;  // fixed after Start
  neptune::CapsuleStack* capsules_ =
      nullptr;               // null: caches do not wait, or block the calling thread
  std::string server_path_;  // path by which the capsule's rules match
  std::vector<neptune::CallbackGauge> gauges_;
  neptune::StatusSection section_;
};

}  // namespace search::cache
