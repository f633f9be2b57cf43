#include "neptune/scheduling/scheduler_options.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

// Tolerance: guarantees are sums of decimal fractions.
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
                         "' is not a scheduling policy: expected fifo, edf, yid, greedy, "
                         "adaptive or waiting_cost");
}

std::string_view NameOf(SchedulingPolicy policy) {
  return std::find_if(kPolicyNames.begin(), kPolicyNames.end(),
                      [&](const auto& item) { return item.first == policy; })
      ->second;
}

Status CheckSchedulerOptions(const SchedulerOptions& options) {
  if (options.classes.empty()) return InvalidArgument("the scheduler has no service classes");
  if (options.classes.size() > kServiceClassCountMax) {
    return InvalidArgument(options.classes.size(), " service classes, limit ",
                           kServiceClassCountMax);
  }
  if (options.default_class >= options.classes.size()) {
    return InvalidArgument("default class ", options.default_class, ", but only ",
                           options.classes.size(), " classes exist");
  }
  if (options.drop_share && !(*options.drop_share >= 0 && *options.drop_share < 1)) {
    return InvalidArgument("drop share is ", *options.drop_share, ", expected [0, 1)");
  }
  if (options.wait_share_max && !(*options.wait_share_max > 0 && *options.wait_share_max <= 1)) {
    return InvalidArgument("wait share is ", *options.wait_share_max, ", expected (0, 1]");
  }
  if (!(options.capacity > 0)) {
    return InvalidArgument("capacity is ", options.capacity, ", expected a positive number");
  }
  std::set<std::string_view> names;
  double guaranteed = 0;
  for (const ServiceClassOptions& one : options.classes) {
    if (!names.insert(one.name).second) {
      return InvalidArgument("service class '", one.name, "' is defined twice");
    }
    if (!(one.guarantee >= 0 && one.guarantee <= 1)) {
      return InvalidArgument("service class '", one.name, "' has guarantee ", one.guarantee,
                             ", expected [0, 1]");
    }
    if (one.queue_length_max == 0) {
      return InvalidArgument("service class '", one.name, "' has queue length 0");
    }
    guaranteed += one.guarantee;
  }
  if (guaranteed > 1 + kGuaranteeSlack) {
    return InvalidArgument("guarantees add up to ", guaranteed, ", limit 1");
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
