// The echo service: the smallest module, for tests and first steps.
//
//   Echo     short; returns the request
//   Work     long; uses the processor time that the request gives in microseconds, then returns it
//   Fail     short; returns kInternal
//   Sum      local operator for aggregations; returns the partition's number as decimal text,
//            reduced by `AddNumbers`
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
