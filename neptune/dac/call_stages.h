// The stages of a caller's deadlines: the mean time of a reduction by service, and the stage length
// in reductions, which calls with TimeoutPolicy::kLearned learn.
//
// Source: [Chu03] 4.4.
// No I/O, no clock, no threads.
// Threads: thread-compatible; one per calling loop.
// Limits: the services that the loop calls.

#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "neptune/base/ewma.h"
#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/dac/stage_deadlines.h"
#include "neptune/dac/stage_learner.h"
#include "neptune/world/random_source.h"

namespace neptune {

class CallStages {
 public:
  // The stage of one call. Zero until a call of the service has ended.
  struct Stage {
    Duration length{0};
    std::optional<StageLearner::Choice> choice;  // set if the call is to be learned from
  };
  Stage Choose(const ServiceName& service, TimeoutPolicy policy, size_t server_count,
               Duration time_left, RandomSource& random);
  // Reports the quality of a call, 0 if it failed; nullopt if it was cancelled.
  void OnEnd(const ServiceName& service, const Stage& stage, std::optional<double> quality);
  // A server that reduced reported its mean cost of a reduction.
  void OnReduceCost(const ServiceName& service, Duration cost);

 private:
  // Weight of a new answer in the mean; half of the total weight is on the last 35 answers.
  static constexpr double kReduceTimeWeight = 0.02;

  struct Service {
    Ewma reduce_time{kReduceTimeWeight};  // as measured by the servers
    StageLearner learner;
  };
  std::map<ServiceName, Service> services_;
};

}  // namespace neptune
