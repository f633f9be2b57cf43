// The module of a client node: it has no methods and registers the reduce operators of its
// aggregations.
//
// Source: [Chu03] 3.3 (operators are registered where they run).
// Threads: see ServiceModule.

#pragma once

#include <functional>
#include <string>
#include <utility>

#include "neptune/service/service_module.h"

namespace neptune::examples {

using RegisterOperators = std::function<void(ModuleContext& context)>;

class OperatorsModule final : public ServiceModule {
 public:
  explicit OperatorsModule(RegisterOperators register_operators)
      : register_operators_(std::move(register_operators)) {}

  Status Start(ModuleContext& context) override {
    register_operators_(context);
    return OkStatus();
  }
  std::string implementation() const override { return "operators"; }

 private:
  const RegisterOperators register_operators_;
};

}  // namespace neptune::examples
