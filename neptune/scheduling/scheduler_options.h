// Options of a service's scheduler: its classes, and the policy among them (class_scheduler.h).
//
// Source: [Shen02] 4.4.
// Threads: immutable values and pure functions.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/scheduling/service_class.h"

namespace neptune {

enum class SchedulingPolicy { kFifo, kEdf, kYid, kGreedy, kAdaptive, kWaitingCost };

// Parses "fifo", "edf", "yid", "greedy", "adaptive" or "waiting_cost".
// Errors: kInvalidArgument any other text.
StatusOr<SchedulingPolicy> ParseSchedulingPolicy(std::string_view name);
std::string_view NameOf(SchedulingPolicy policy);

struct SchedulerOptions {
  std::vector<ServiceClassOptions> classes = {{.name = "default"}};
  // Class of requests that match no other.
  ClassNumber default_class = 0;
  SchedulingPolicy policy = SchedulingPolicy::kAdaptive;
  // Seconds of consumption that the node can serve a second: its processors. For waiting_cost.
  double capacity = 1;
  // A queue head whose expected yield does not exceed this share of its class's full yield is
  // dropped. Larger: requests of little value make room sooner. Unset: only requests past their
  // deadline are dropped. Default: 0, i.e. requests that would yield nothing.
  std::optional<double> drop_share = 0;
  // For fifo only: a request is refused at once if the work before it is expected to take more than
  // this share of its time. Otherwise a queue under overload serves requests just as they expire.
  // Larger: longer bursts are absorbed, and more requests complete too late. Unset: every request
  // that fits in the queue waits. Default: 0.5.
  std::optional<double> wait_share_max = 0.5;
};

// Returns OK if the options are valid.
// Errors: kInvalidArgument no class or too many, an invalid default class, a duplicate name, a
//   guarantee outside [0, 1] or a sum of guarantees over 1, a queue of length 0, a drop share
//   outside [0, 1), a wait share outside (0, 1], a capacity that is not positive.
Status CheckSchedulerOptions(const SchedulerOptions& options);

// Returns the class with that name; nullopt if there is none.
std::optional<ClassNumber> FindClass(const SchedulerOptions& options, std::string_view name);

}  // namespace neptune
