#include "neptune/dac/call_stages.h"

#include <algorithm>

namespace neptune {

CallStages::Stage CallStages::Choose(const ServiceName& service, TimeoutPolicy policy,
                                     size_t server_count, Duration time_left,
                                     RandomSource& random) {
  const auto known = services_.find(service);
  if (known == services_.end()) return {};
  const double reduction = std::max(known->second.reduce_time.value(), 1.0);
  Stage stage;
  if (policy == TimeoutPolicy::kLearned) {
    const auto left = static_cast<double>(time_left.count());
    stage.choice = known->second.learner.Choose(server_count, left / reduction, random);
  }
  const double length = stage.choice ? stage.choice->length() : kStageLengths.back();
  stage.length = Duration(static_cast<int64_t>(length * reduction));
  return stage;
}

void CallStages::OnEnd(const ServiceName& service, const Stage& stage,
                       std::optional<double> quality) {
  Service& known = services_[service];
  if (stage.choice && quality) known.learner.OnEnd(*stage.choice, *quality);
}

void CallStages::OnReduceCost(const ServiceName& service, Duration cost) {
  services_[service].reduce_time.Add(static_cast<double>(cost.count()));
}

}  // namespace neptune
