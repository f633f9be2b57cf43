// How requests that wait are to be served: their classes, and the policy among them (class_scheduler.h).
//
// Source: [Shen02] 4.4. Threads: immutable values and pure functions.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/scheduling/service_class.h"

namespace neptune {

enum class SchedulingPolicy { kFifo, kEdf, kYid, kGreedy, kAdaptive, kWaitingCost };

// "fifo", "edf", "yid", "greedy", "adaptive", "waiting_cost". Errors: kInvalidArgument any other text.
StatusOr<SchedulingPolicy> ParseSchedulingPolicy(std::string_view name);
std::string_view NameOf(SchedulingPolicy policy);

struct SchedulerOptions {
  std::vector<ServiceClassOptions> classes = {{.name = "default"}};
  // What a request of none of them counts as.
  ClassNumber default_class = 0;
  SchedulingPolicy policy = SchedulingPolicy::kAdaptive;
  // What the node can give in a second, in seconds of consumption: its processors. For waiting_cost.
  double capacity = 1;
  // A head whose expected yield is not over this share of its class's full yield is dropped. Larger: what would hardly
  // pay makes room sooner. Absent: only what is past its deadline is dropped. Default: 0, what would yield nothing.
  std::optional<double> drop_share = 0;
  // First come, first served only: a request is refused at once if what waits before it is expected to take over this share
  // of the time it has. Without it a queue under overload serves requests just as they expire. Larger: longer bursts are
  // ridden out; more of what is begun comes too late. Absent: whoever finds room waits. Default: 0.5.
  std::optional<double> wait_share_max = 0.5;
};

// What is wrong with the options; OK if nothing is.
// Errors: kInvalidArgument no class or too many, no such default class, a name twice, a guarantee outside [0, 1] or
//   guarantees over 1 together, a queue without room, a drop share outside [0, 1), a share of waiting
//   outside (0, 1], a capacity that is not positive.
Status CheckSchedulerOptions(const SchedulerOptions& options);

// The class of that name; absent if there is none.
std::optional<ClassNumber> FindClass(const SchedulerOptions& options, std::string_view name);

}  // namespace neptune
