// A replicated register file, for tests and experiments: "Append KEY=TEXT" adds to a value, "Insert KEY=TEXT" puts a text that
// ends with ';' among those of a value, which are in their order; "Get KEY" reads it. Inserts commute.
//
// Threads: as methods.
// Shapes: a write's answer is the whole value after it. The text "refuse" is refused by the data.

#pragma once

#include <memory>
#include <string>

#include "neptune/replication/agent/replicated_service.h"
#include "neptune/service/service_module.h"

namespace neptune {

class RegisterModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override;
  Status Health(PartitionId partition) override { return service_->Health(partition); }
  std::string implementation() const override { return "registers"; }
  void Stop() override { service_.reset(); }

 private:
  std::unique_ptr<ReplicatedService> service_;
};

}  // namespace neptune
