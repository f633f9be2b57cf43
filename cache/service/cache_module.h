// The query cache as a service: each hosted partition is an independent cache.
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
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/result_cache.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/service/service_module.h"

namespace search::cache {

class CacheModule final : public neptune::ServiceModule {
 public:
  void DeclareParameters(neptune::ParameterTable& table) override;
  neptune::Status Start(neptune::ModuleContext& context) override;
  std::string implementation() const override { return parameters_.implementation; }

 private:
  struct Parameters {
    std::string implementation = "memory";
    std::string policy = ResultCacheOptions().policy;
    uint64_t size_mb = ResultCacheOptions().size_max >> 20;
    std::string server = ResultCacheOptions().server;
    std::string server_user{};
    std::string server_password_file{};
    neptune::Duration server_timeout = ResultCacheOptions().server_timeout;
    std::optional<std::string> key_prefix{};
  };

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

  Parameters parameters_;                                                    // fixed before Start
  std::map<neptune::PartitionId, std::shared_ptr<ResultCache>> partitions_;  // fixed after Start
  neptune::CapsuleStack* capsules_ =
      nullptr;               // null: caches do not wait, or block the calling thread
  std::string server_path_;  // path by which the capsule's rules match
  std::vector<neptune::CallbackGauge> gauges_;
  neptune::StatusSection section_;
};

}  // namespace search::cache
