// The query cache as a service: each hosted partition is a cache of its own.
//
// Parameters (cluster spec):
//   implementation  variant of the registry; default: memory
//   size_mb         bytes of a partition at most, in MiB; default: 64
//
// Source: capsules paper, figure 1 (query caches). Layer: cache.
// Threads: methods run on any loop of the node; caches are thread-safe.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cache/result_cache.h"
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

  std::string implementation_ = "memory";
  std::map<neptune::PartitionId, std::unique_ptr<ResultCache>> partitions_;  // fixed after Start
  std::vector<neptune::CallbackGauge> gauges_;
  neptune::StatusSection section_;
};

}  // namespace search::cache
