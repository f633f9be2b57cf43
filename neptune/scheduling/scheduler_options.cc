#include "neptune/scheduling/scheduler_options.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

// Guarantees are sums of decimal fractions.
constexpr double kGuaranteeSlack = 1e-9;

constexpr std::array<std::pair<SchedulingPolicy, std::string_view>, 6> kPolicyNames = {{
    {SchedulingPolicy::kFifo, "fifo"},
    {SchedulingPolicy::kEdf, "edf"},
    {SchedulingPolicy::kYid, "yid"},
    {SchedulingPolicy::kGreedy, "greedy"},
    {SchedulingPolicy::kAdaptive, "adaptive"},
    {SchedulingPolicy::kWaitingCost, "waiting_cost"},
}};

}  // namespace

StatusOr<SchedulingPolicy> ParseSchedulingPolicy(std::string_view name) {
  for (const auto& [policy, known] : kPolicyNames) {
    if (name == known) return policy;
  }
  return InvalidArgument("'", name,
                         "' is no scheduling policy; there are fifo, edf, yid, greedy, adaptive, "
                         "waiting_cost");
}

std::string_view NameOf(SchedulingPolicy policy) {
  return std::find_if(kPolicyNames.begin(), kPolicyNames.end(),
                      [&](const auto& item) { return item.first == policy; })
      ->second;
}

Status CheckSchedulerOptions(const SchedulerOptions& options) {
  if (options.classes.empty()) return InvalidArgument("a scheduler without service classes");
  if (options.classes.size() > kServiceClassCountMax) {
    return InvalidArgument(options.classes.size(), " service classes are over ",
                           kServiceClassCountMax);
  }
  if (options.default_class >= options.classes.size()) {
    return InvalidArgument("class ", options.default_class, " as default; there are ",
                           options.classes.size());
  }
  if (options.drop_share && !(*options.drop_share >= 0 && *options.drop_share < 1)) {
    return InvalidArgument("a drop share of ", *options.drop_share, "; it is at least 0, below 1");
  }
  if (options.wait_share_max && !(*options.wait_share_max > 0 && *options.wait_share_max <= 1)) {
    return InvalidArgument("a share of waiting of ", *options.wait_share_max,
                           "; it is over 0, at most 1");
  }
  if (!(options.capacity > 0)) {
    return InvalidArgument("a capacity of ", options.capacity, "; it is positive");
  }
  std::set<std::string_view> names;
  double guaranteed = 0;
  for (const ServiceClassOptions& one : options.classes) {
    if (!names.insert(one.name).second) {
      return InvalidArgument("service class '", one.name, "' is there twice");
    }
    if (!(one.guarantee >= 0 && one.guarantee <= 1)) {
      return InvalidArgument("service class '", one.name, "' is guaranteed a share of ",
                             one.guarantee, "; it is from 0 to 1");
    }
    if (one.queue_length_max == 0) {
      return InvalidArgument("service class '", one.name, "' has a queue without room");
    }
    guaranteed += one.guarantee;
  }
  if (guaranteed > 1 + kGuaranteeSlack) {
    return InvalidArgument("guaranteed shares are ", guaranteed, " together, over 1");
  }
  return OkStatus();
}

std::optional<ClassNumber> FindClass(const SchedulerOptions& options, std::string_view name) {
  for (ClassNumber number = 0; number < options.classes.size(); ++number) {
    if (options.classes[number].name == name) return number;
  }
  return std::nullopt;
}

}  // namespace neptune
