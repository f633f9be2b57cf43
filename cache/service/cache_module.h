// The query cache as a service: each hosted partition is a cache of its own.
//
// Parameters (cluster spec):
//   implementation  variant of the registry; default: memory
//   size_mb         bytes of a partition at most, in MiB; default: 64
//   server          HOST:PORT of the server of a variant that asks one; default: 127.0.0.1:6379
//   server_timeout_ms  for connecting to it and for each piece of an answer; default: 50
//   key_prefix      what its keys begin with, the partition's number follows; default: the service's name
//
// A variant that waits for a server is asked on the helper threads of a device capsule: that of the spec which takes
// disk:/SERVICE-server/**, or else one called SERVICE-server. A server that hangs then holds those threads and what
// waits for them, and nothing else of the node.
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
  // Helper threads for caches that wait.
  neptune::Status MakeCapsule(neptune::ModuleContext& context);
  // What `ask` gives of the request's partition. It owns what it uses, and may run when the request has gone.
  template <typename Ask>
  auto AskCache(neptune::RequestContext& context, Ask ask)
      -> decltype(ask(std::declval<ResultCache&>()));

  std::string implementation_ = "memory";
  std::map<neptune::PartitionId, std::shared_ptr<ResultCache>> partitions_;  // fixed after Start
  neptune::CapsuleStack* capsules_ =
      nullptr;               // null: caches do not wait, or wait where they are asked
  std::string server_path_;  // of what is asked there
  std::vector<neptune::CallbackGauge> gauges_;
  neptune::StatusSection section_;
};

}  // namespace search::cache
