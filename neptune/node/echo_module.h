// A service that answers what it was asked: the smallest module, for tests and first steps.
//
//   Echo     short; returns the request
//   Work     long; uses as much processor time as the request says in microseconds, then returns it
//   Fail     short; returns kInternal
//   Sum      local operator for aggregations: the partition's number as decimal text; reduced by `AddNumbers`
//
// Source: [Shen02] 2.3 (service methods).
// Threads: as ServiceModule says.

#pragma once

#include <string>

#include "neptune/service/service_module.h"

namespace neptune {

class EchoModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override;
  std::string implementation() const override { return "echo"; }
};

}  // namespace neptune
