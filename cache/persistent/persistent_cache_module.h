// The query cache as a replicated service: the methods of cache_service.h, with entries that
// survive the loss of nodes.
//
// Source: [Shen02] 5.3 (persistent cache; level two: "high throughput with intermittent false cache
//   misses").
// Threads: those of ServiceModule.
// Errors: kInvalidArgument malformed requests. A refusal because of size is not an error.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cache/persistent/persistent_entries.h"
#include "neptune/replication/agent/replicated_service.h"
#include "neptune/service/service_module.h"

namespace search::cache {

// Hooks for experiments that simulate delays; called on user-level threads, which may wait.
struct PersistentCacheHooks {
  std::function<void(neptune::World& world)> before_lookup;  // may be null
  std::function<void(neptune::World& world)> before_insert;  // on each replica; may be null
};

class PersistentCacheModule final : public neptune::ServiceModule {
 public:
  explicit PersistentCacheModule(PersistentCacheHooks hooks = {});

  void DeclareParameters(neptune::ParameterTable& table) override;
  neptune::Status Start(neptune::ModuleContext& context) override;
  neptune::Status Health(neptune::PartitionId partition) override {
    return service_->Health(partition);
  }
  std::string implementation() const override { return "persistent"; }
  void Stop() override { service_.reset(); }

 private:
  neptune::Status Lookup(const neptune::StoreView& store, neptune::RequestContext& context,
                         const neptune::Data& request, neptune::Data* response);
  neptune::Status Insert(const neptune::WriteContext& write, std::string_view bytes,
                         std::string* response) const;

  const PersistentCacheHooks hooks_;
  uint64_t size_mb_;         // fixed before Start
  PersistentLimits limits_;  // fixed by Start
  std::unique_ptr<neptune::ReplicatedService> service_;
};

}  // namespace search::cache
