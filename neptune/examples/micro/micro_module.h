// MICRO: a service that only uses processor time, for measuring aggregations without an application's artefacts.
//
//   Run   long, local operator: MicroRequest → MicroResult of the partition
//
// Source: [Chu03] 5.1 (MICRO).
// Departs from source: it runs in both worlds: modelled time in the simulated one, spun in the real one.
// Threads: as ServiceModule says.
// Errors: Run: kInvalidArgument no MicroRequest, or one over its limits; with slices, kCancelled or
//   kDeadlineExceeded once nobody waits any more.

#pragma once

#include <string>

#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr char kMicroMethod[] = "Run";

class MicroModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override;
  std::string implementation() const override { return "micro"; }
};

}  // namespace neptune::examples
