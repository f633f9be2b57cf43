// Load estimators with other knowledge than the runtime's, whose trees dac_trees compares with its
// own.
//
// Threads: see LoadEstimator.
// Units: work is time on the node in question.

#pragma once

#include <functional>
#include <utility>

#include "neptune/dac/load_estimator.h"

namespace search::lab {

// Knows the loads that servers announce and those that answer polls. What comes with answers and by
// gossip is ignored, as in the paper.
class AnnouncedLoads final : public neptune::LoadEstimator {
 protected:
  bool CountsPending(neptune::LoadSource source) const override {
    return source == neptune::LoadSource::kAnnouncement || source == neptune::LoadSource::kPoll;
  }
};

// Knows each load as it is at the moment, like an answer that has just arrived.
class MeasuredLoads final : public neptune::LoadEstimator {
 public:
  using Measure = std::function<neptune::Duration(const neptune::NodeId&)>;
  explicit MeasuredLoads(Measure measure) : measure_(std::move(measure)) {}

  neptune::Duration Estimate(const neptune::NodeId& node, const neptune::ServiceName&,
                             neptune::TimePoint, neptune::RandomSource&) const override {
    return measure_(node);
  }
  double Staleness(const neptune::NodeId&, const neptune::ServiceName&,
                   neptune::TimePoint) const override {
    return 0;
  }

 private:
  const Measure measure_;
};

}  // namespace search::lab
