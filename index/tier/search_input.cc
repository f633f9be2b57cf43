#include "index/tier/search_input.h"

#include <utility>

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

neptune::Status ReadStore(const TierSearchControl& control, std::function<void()> read) {
  if (control.read) return control.read(std::move(read));
  read();
  return neptune::OkStatus();
}

}  // namespace search::index
