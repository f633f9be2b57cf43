#include "neptune/mtrr/thread_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr double kTooDear = std::numeric_limits<double>::infinity();

// Number of threads available to the classes together.
int FreeThreads(const PlanInput& input) {
  return input.thread_count_max - input.other_thread_count;
}

Status Check(const PlanInput& input) {
  if (input.classes.empty()) return InvalidArgument("the plan has no classes");
  if (input.classes.size() > kPlannedClassCountMax) {
    return InvalidArgument(input.classes.size(), " classes, limit ", kPlannedClassCountMax);
  }
  if (input.thread_count_max > kPlannedThreadCountMax) {
    return InvalidArgument(input.thread_count_max, " threads, limit ", kPlannedThreadCountMax);
  }
  if (input.other_thread_count < 0) {
    return InvalidArgument(input.other_thread_count,
                           " threads outside the classes, expected at least 0");
  }
  if (FreeThreads(input) < static_cast<int>(input.classes.size())) {
    return InvalidArgument(FreeThreads(input), " threads for ", input.classes.size(),
                           " classes, expected at least one each");
  }
  std::set<std::string> names;
  for (const PlannedClass& one : input.classes) {
    if (!names.insert(one.name).second) {
      return InvalidArgument("class '", one.name, "' is duplicated in the plan");
    }
    if (one.response_max_s && !(*one.response_max_s > 0)) {
      return InvalidArgument("class '", one.name, "' must answer within ", *one.response_max_s,
                             " s, expected a positive number");
    }
  }
  return OkStatus();
}

// The worst case of one class with `threads` threads, while the others have `others`.
StatusOr<PlannedThreads> WorstCase(const PlanInput& input, size_t number, int threads, int others) {
  const PlannedClass& one = input.classes[number];
  PlannedThreads planned{.name = one.name, .thread_count = threads};
  auto model = PredictResponse({.arrival_rate = one.arrival_rate,
                                .service_rate = input.service_rate,
                                .speedup = input.speedup,
                                .thread_count = threads,
                                .queue_length_max = one.queue_length_max,
                                .overloaded_thread_count = others + input.other_thread_count});
  if (!model.ok()) {
    return Annotate(model.status(), StrCat("class '", one.name, "'"));
  }
  planned.worst_case = *model;
  planned.cost = one.holding_cost ? one.holding_cost(model->response_s) : model->response_s;
  return planned;
}

bool IsLate(const PlannedClass& one, const PlannedThreads& planned) {
  return one.response_max_s && planned.worst_case.response_s > *one.response_max_s;
}

// For one sum of threads: tables of the least cost of the first classes, indexed by their total
// threads.
class Tables {
 public:
  Tables(const PlanInput& input, int all) : input_(input), all_(all) {}

  // Returns the plan with the least cost; nullopt if no allocation is feasible.
  StatusOr<std::optional<ThreadPlan>> Solve();

 private:
  const PlanInput& input_;
  const int all_;
};

StatusOr<std::optional<ThreadPlan>> Tables::Solve() {
  const size_t class_count = input_.classes.size();
  const auto all = static_cast<size_t>(all_);
  std::vector<std::vector<PlannedThreads>> alone(class_count);
  std::vector<double> least(all + 1, kTooDear);  // indexed by the threads of the classes so far
  std::vector<std::vector<int>> chosen(class_count, std::vector<int>(all + 1, 0));
  least[0] = 0;
  for (size_t number = 0; number < class_count; ++number) {
    for (int threads = 1; threads <= all_; ++threads) {
      NEPTUNE_ASSIGN_OR_RETURN(PlannedThreads planned,
                               WorstCase(input_, number, threads, all_ - threads));
      alone[number].push_back(std::move(planned));
    }
    std::vector<double> with(all + 1, kTooDear);
    for (size_t sum = 1; sum <= all; ++sum) {
      for (size_t own = 1; own <= sum; ++own) {
        const PlannedThreads& planned = alone[number][own - 1];
        if (IsLate(input_.classes[number], planned)) continue;
        const double cost = least[sum - own] + planned.cost;
        if (cost >= with[sum]) continue;
        with[sum] = cost;
        chosen[number][sum] = static_cast<int>(own);
      }
    }
    least = std::move(with);
  }
  if (least[all] == kTooDear) return std::optional<ThreadPlan>();
  ThreadPlan plan{.classes = {}, .cost = least[all], .thread_count = all_};
  size_t sum = all;
  for (size_t number = class_count; number-- > 0;) {
    const auto own = static_cast<size_t>(chosen[number][sum]);
    plan.classes.insert(plan.classes.begin(), alone[number][own - 1]);
    sum -= own;
  }
  return std::optional<ThreadPlan>(std::move(plan));
}

// Returns the error that names the class whose limit cannot be met with any allocation.
Status Infeasible(const PlanInput& input) {
  for (size_t number = 0; number < input.classes.size(); ++number) {
    const PlannedClass& one = input.classes[number];
    if (!one.response_max_s) continue;
    const int others = static_cast<int>(input.classes.size()) - 1;
    double best = kTooDear;
    for (int threads = 1; threads + others <= FreeThreads(input); ++threads) {
      NEPTUNE_ASSIGN_OR_RETURN(const PlannedThreads planned,
                               WorstCase(input, number, threads, others));
      best = std::min(best, planned.worst_case.response_s);
    }
    if (best <= *one.response_max_s) continue;
    return FailedPrecondition("class '", one.name, "' must answer within ", *one.response_max_s,
                              " s; with one thread for each other class it takes ", best,
                              " s at best");
  }
  return FailedPrecondition(
      "each class could answer in time if the others had one thread each, but ", FreeThreads(input),
      " threads are not enough for all of them");
}

}  // namespace

StatusOr<ThreadPlan> PlanThreads(const PlanInput& input) {
  NEPTUNE_RETURN_IF_ERROR(Check(input));
  std::optional<ThreadPlan> best;
  for (int all = static_cast<int>(input.classes.size()); all <= FreeThreads(input); ++all) {
    NEPTUNE_ASSIGN_OR_RETURN(std::optional<ThreadPlan> plan, Tables(input, all).Solve());
    if (plan && (!best || plan->cost < best->cost)) best = std::move(plan);
  }
  if (!best) return Infeasible(input);
  return *std::move(best);
}

}  // namespace neptune
