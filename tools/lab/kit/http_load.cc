#include "tools/lab/kit/http_load.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "neptune/base/notification.h"
#include "neptune/world/random_source.h"
#include "neptune/world/real/real_world.h"
#include "tools/replay/http_target.h"
#include "tools/replay/open_loop.h"
#include "tools/replay/replay_plan.h"

namespace search::lab {
namespace {

using neptune::FromSeconds;
using neptune::Status;
using tools::Measurement;

class Collector final : public tools::LoadObserver {
 public:
  void HandleFinished(std::vector<Measurement> finished, const tools::LoadProgress&) override {
    measurements_.insert(measurements_.end(), finished.begin(), finished.end());
  }
  void HandleEnd(const Status& status) override {
    status_ = status;
    ended_.Notify();
  }

  neptune::StatusOr<std::vector<Measurement>> Await() {
    ended_.WaitForNotification();
    NEPTUNE_RETURN_IF_ERROR(status_);
    return std::move(measurements_);
  }

 private:
  std::vector<Measurement> measurements_;
  Status status_;
  neptune::Notification ended_;
};

uint8_t DrawClass(const std::vector<std::pair<std::string, double>>& shares,
                  neptune::RandomSource& random) {
  double left = random.Uniform();
  uint8_t number = 0;
  while (number + 1u < shares.size() && left >= shares[number].second) {
    left -= shares[number++].second;
  }
  return number;
}

neptune::StatusOr<tools::ReplayPlan> MakePlan(const HttpLoadOptions& options) {
  if (!(options.rate > 0) || options.rate * options.length_s > kHttpLoadRequestCountMax) {
    return neptune::InvalidArgument("a load of ", options.rate, " a second for ", options.length_s,
                                    " s");
  }
  tools::ReplayPlan plan{.classes = {"", "other"}, .queries = options.queries};
  if (!options.class_shares.empty()) plan.classes.clear();
  for (const auto& [name, share] : options.class_shares) plan.classes.push_back(name);
  plan.queries.insert(plan.queries.end(), options.other_queries.begin(),
                      options.other_queries.end());
  neptune::RandomSource random(options.seed);
  double at_s = random.Exponential(1 / options.rate);
  for (; at_s < options.length_s; at_s += random.Exponential(1 / options.rate)) {
    plan.requests.push_back({.at_ns = FromSeconds(at_s).count()});
    if (!options.class_shares.empty()) {
      plan.requests.back().service_class = DrawClass(options.class_shares, random);
      plan.requests.back().query = static_cast<uint32_t>(random.Below(plan.queries.size()));
      continue;
    }
    if (plan.queries.size() == 1) continue;
    const bool other = !options.other_queries.empty() && random.Uniform() < options.other_share;
    const size_t count = other ? options.other_queries.size() : options.queries.size();
    plan.requests.back().query =
        static_cast<uint32_t>((other ? options.queries.size() : 0) + random.Below(count));
    plan.requests.back().service_class = other ? 1 : 0;
  }
  return plan;
}

tools::HttpTargetOptions TargetOf(const HttpLoadOptions& options) {
  tools::HttpTargetOptions target;
  target.servers = {options.server};
  target.path = options.path;
  target.send_class = !options.class_shares.empty();
  target.read_facts = options.read_facts;
  return target;
}

}  // namespace

neptune::StatusOr<std::vector<Measurement>> RunHttpLoad(const HttpLoadOptions& options) {
  PlannedLoad load{.timeout_s = options.timeout_s, .actions = options.actions};
  NEPTUNE_ASSIGN_OR_RETURN(load.plan, MakePlan(options));
  load.make_target = [&options](neptune::Loop& loop, const tools::ReplayPlan& plan) {
    return std::make_unique<tools::HttpTarget>(loop, plan, TargetOf(options));
  };
  return RunPlannedLoad(load);
}

neptune::StatusOr<std::vector<Measurement>> RunPlannedLoad(const PlannedLoad& load) {
  const auto world = neptune::MakeRealWorld({});
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Loop* const loop, world->StartLoop({.name = "load"}));
  Collector collector;
  std::unique_ptr<tools::LoadTarget> target;
  std::unique_ptr<tools::OpenLoop> open_loop;
  const tools::OpenLoopOptions options{.timeout = FromSeconds(load.timeout_s)};
  size_t due_count = load.actions.size();
  neptune::Notification acted;
  loop->Post([&] {
    target = load.make_target(*loop, load.plan);
    open_loop = std::make_unique<tools::OpenLoop>(*loop, load.plan, *target, options, collector);
    open_loop->Start();
    const neptune::TimePoint zero = loop->Now() + options.lead;
    for (const TimedAction& timed : load.actions) {
      loop->RunAt(zero + FromSeconds(timed.at_s), [&] {
        timed.action();
        if (--due_count == 0) acted.Notify();
      });
    }
  });
  auto measurements = collector.Await();
  if (measurements.ok() && !load.actions.empty()) acted.WaitForNotification();
  neptune::Notification gone;
  loop->Post([&] {
    open_loop.reset();
    target.reset();
    gone.Notify();
  });
  gone.WaitForNotification();
  world->Stop();
  return measurements;
}

LoadShare ShareOf(const std::vector<Measurement>& measurements, double begin_s, double end_s,
                  double timeout_s) {
  LoadShare share;
  double response_ns_sum = 0;
  for (const Measurement& one : measurements) {
    const double due_s = neptune::ToSeconds(neptune::Duration(one.intended_ns));
    if (due_s < begin_s || due_s >= end_s) continue;
    ++share.request_count;
    const bool in_time = one.latency_ns() <= FromSeconds(timeout_s).count();
    if (one.outcome != tools::Outcome::kAnswered || !in_time) {
      ++share.lost_count;
    } else {
      response_ns_sum += static_cast<double>(one.latency_ns());
    }
  }
  const size_t answered_count = share.request_count - share.lost_count;
  if (answered_count > 0) {
    share.response_ms_mean = response_ns_sum / static_cast<double>(answered_count) / 1e6;
  }
  return share;
}

}  // namespace search::lab
