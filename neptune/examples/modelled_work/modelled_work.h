// Additional processor time of an example's request, so that a small service loads a machine like
// one with a large database. Modelled in the simulated world, spun in the real one.
//
// Threads: immutable; Use on a user-level thread.
// Errors: kInvalidArgument a parameter is not a time.
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
  // No additional time.
  ModelledWork() = default;
  // Exponentially distributed, with the mean given by the service's parameter `key` in
  // microseconds. Without the parameter: no additional time.
  static StatusOr<ModelledWork> FromParameter(const ModuleContext& context, const std::string& key);

  // Returns the time of a request with this seed: it is the same whichever replica serves the
  // request, and however often.
  Duration TimeOf(uint64_t seed) const;
  // Uses that time.
  void Use(uint64_t seed) const;

 private:
  ModelledWork(Processors& processors, Duration mean, uint64_t salt)
      : processors_(&processors), mean_(mean), salt_(salt) {}

  Processors* processors_ = nullptr;
  Duration mean_{0};
  uint64_t salt_ = 0;  // makes the times of different kinds of work of one request independent
};

}  // namespace neptune::examples
