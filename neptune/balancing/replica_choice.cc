#include "neptune/balancing/replica_choice.h"

#include <algorithm>
#include <numeric>

#include "neptune/base/strings.h"

namespace neptune {

StatusOr<BalancingPolicy> ParseBalancingPolicy(std::string_view name) {
  if (name == "random") return BalancingPolicy::kRandom;
  if (name == "round_robin") return BalancingPolicy::kRoundRobin;
  if (name == "broadcast") return BalancingPolicy::kBroadcast;
  if (name == "poll") return BalancingPolicy::kPoll;
  if (name == "probe_pool") return BalancingPolicy::kProbePool;
  return InvalidArgument("unknown balancing policy '", name,
                         "': expected probe_pool, poll, broadcast, round_robin or random");
}

std::vector<size_t> ChoosePollTargets(size_t candidate_count, size_t poll_size,
                                      RandomSource& random) {
  std::vector<size_t> targets(candidate_count);
  std::iota(targets.begin(), targets.end(), size_t{0});
  const size_t count = std::min({candidate_count, poll_size, kPollSizeMax});
  for (size_t i = 0; i < count; ++i) {
    std::swap(targets[i], targets[i + random.Below(candidate_count - i)]);
  }
  targets.resize(count);
  return targets;
}

size_t ChooseLeastLoaded(std::span<const uint32_t> loads, RandomSource& random) {
  size_t best = 0;
  uint64_t ties = 1;
  for (size_t i = 1; i < loads.size(); ++i) {
    if (loads[i] < loads[best]) {
      best = i;
      ties = 1;
    } else if (loads[i] == loads[best] && random.Below(++ties) == 0) {
      best = i;
    }
  }
  return best;
}

}  // namespace neptune
