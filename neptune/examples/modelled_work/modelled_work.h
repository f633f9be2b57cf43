// Processor time that an example's request uses beyond what it really does, so that a small service loads a machine as
// one with a large database behind it would. Modelled in the simulated world, really spun in the real one.
//
// Threads: immutable; Use on a user-level thread.
// Errors: kInvalidArgument a parameter that is no time.
// Limits: a mean is at most kModelledMeanMax.

#pragma once

#include <cstdint>
#include <string>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr Duration kModelledMeanMax = std::chrono::seconds(10);

class ModelledWork {
 public:
  // None at all.
  ModelledWork() = default;
  // Exponentially distributed, with the mean that the service's parameter `key` says in microseconds. Without the
  // parameter: none.
  static StatusOr<ModelledWork> FromParameter(const ModuleContext& context, const std::string& key);

  // The time that belongs to a request of this seed: whatever serves it, and however often, it takes the same.
  Duration TimeOf(uint64_t seed) const;
  // Uses that time.
  void Use(uint64_t seed) const;

 private:
  ModelledWork(Processors& processors, Duration mean, uint64_t salt)
      : processors_(&processors), mean_(mean), salt_(salt) {}

  Processors* processors_ = nullptr;
  Duration mean_{0};
  uint64_t salt_ = 0;  // keeps the times that different works of one request take apart
};

}  // namespace neptune::examples
