// The query cache as a replicated service: the methods of cache_service.h, with entries that
// survive the loss of nodes.
//
// Source: [Shen02] 5.3 (persistent cache; level two: "high throughput with intermittent false cache
//   misses").
// Threads: those of ServiceModule.
// Errors: kInvalidArgument malformed requests. A refusal because of size is not an error.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cache/persistent/persistent_entries.h"
#include "neptune/replication/agent/replicated_service.h"
#include "neptune/service/service_module.h"

namespace search::cache {

class PersistentCacheModule : public neptune::ServiceModule {
 public:
  PersistentCacheModule();

  void DeclareParameters(neptune::ParameterTable& table) override;
  neptune::Status Start(neptune::ModuleContext& context) override;
  neptune::Status Health(neptune::PartitionId partition) override {
    return service_->Health(partition);
  }
  std::string implementation() const override { return "persistent"; }
  void Stop() override { service_.reset(); }

 protected:
  // Opens the service, whose methods are registered; a subclass may add to it before.
  virtual neptune::Status Open(neptune::ReplicatedService& service, neptune::World& world);
  virtual neptune::Status Lookup(const neptune::StoreView& store, neptune::RequestContext& context,
                                 const neptune::Data& request, neptune::Data* response);

 private:
  neptune::Status Insert(const neptune::WriteContext& write, std::string_view bytes,
                         std::string* response) const;

  uint64_t size_mb_;         // fixed before Start
  PersistentLimits limits_;  // fixed by Start
  std::unique_ptr<neptune::ReplicatedService> service_;
};

}  // namespace search::cache
