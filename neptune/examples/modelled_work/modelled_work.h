// Additional processor time of an example's request, so that a small service loads a machine like
// one with a large database. Modelled in the simulated world, spun in the real one.
//
// Threads: immutable once started; Use on a user-level thread.
// Limits: a mean is at most kModelledMeanMax.

#pragma once

#include <cstdint>
#include <string>

#include "neptune/base/time.h"
#include "neptune/service/parameter_table.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr Duration kModelledMeanMax = std::chrono::seconds(10);

class ModelledWork {
 public:
  // No additional time.
  ModelledWork() = default;

  // Declares the parameter `key`: the mean of exponentially distributed times, in microseconds.
  // If the spec does not give it, there is no additional time.
  void DeclareParameter(ParameterTable& table, const std::string& key);
  // REQUIRES: called by the module's Start, before the functions below.
  void Start(const ModuleContext& context);

  // Returns the time of a request with this seed: it is the same whichever replica serves the
  // request, and however often.
  Duration TimeOf(uint64_t seed) const;
  // Uses that time.
  void Use(uint64_t seed) const;

 private:
  Processors* processors_ = nullptr;
  std::string key_;
  uint64_t mean_us_ = 0;
  uint64_t salt_ = 0;  // makes the times of different kinds of work of one request independent
};

}  // namespace neptune::examples
