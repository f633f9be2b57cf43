// MICRO: a service that only uses processor time, for measuring aggregations without an
// application's artefacts.
//
//   Run   long, local operator: MicroRequest → MicroResult of the partition
//
// Source: [Chu03] 5.1 (MICRO).
// Departs from source: it runs in both worlds, with modelled time in the simulated one and spinning
//   in the real one.
// Threads: see ServiceModule.
// Errors: Run: kInvalidArgument the request is not a MicroRequest, or exceeds a limit; with slices,
//   kCancelled or kDeadlineExceeded once the request is no longer wanted.

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
