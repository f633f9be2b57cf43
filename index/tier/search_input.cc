#include "index/tier/search_input.h"

namespace search::index {

neptune::StatusOr<Query> ReadTierQuery(const TierQuery& query) {
  return ParseQuery(query.query(), ParseLimits::ForCanonical());
}

std::function<bool()> StopFunction(const TierSearchControl& control) {
  const bool has_deadline = control.now && control.deadline != neptune::kNever;
  if (!has_deadline) return control.stop;
  return
      [&control] { return control.now() >= control.deadline || (control.stop && control.stop()); };
}

}  // namespace search::index
