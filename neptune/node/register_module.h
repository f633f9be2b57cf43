// A replicated register file, for tests and experiments.
//
//   Append KEY=TEXT   appends to the value
//   Insert KEY=TEXT   inserts a text that ends with ';' into the value's sorted texts; commutes
//   Get KEY           reads the value
//
// Threads: as methods.
// Shapes: a write returns the whole new value. The text "refuse" is refused when the write is
//   applied.

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
