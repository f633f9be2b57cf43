#include "neptune/sert/ending_order.h"

#include <tuple>

namespace neptune {

StatusOr<EndingOrder> ParseEndingOrder(std::string_view name) {
  if (name == "age") return EndingOrder::kAge;
  if (name == "relief") return EndingOrder::kRelief;
  return InvalidArgument("'", name, "' is not an ending order; expected age or relief");
}

std::optional<size_t> MostRelieving(std::span<const RunningRequest> running, Duration age_min) {
  std::optional<size_t> most;
  for (size_t i = 0; i < running.size(); ++i) {
    const RunningRequest& one = running[i];
    if (one.age < age_min || !one.is_in_pool) continue;
    if (!most ||
        std::tie(running[*most].in_pool, running[*most].age) < std::tie(one.in_pool, one.age)) {
      most = i;
    }
  }
  return most;
}

}  // namespace neptune
