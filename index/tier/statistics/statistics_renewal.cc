#include "index/tier/statistics/statistics_renewal.h"

#include <glog/logging.h>

#include <optional>
#include <utility>

#include "index/tier/statistics/renewal_attempt.h"
#include "neptune/service/service_module.h"

namespace search::index {

using neptune::Duration;
using neptune::Status;
using neptune::StatusOr;
using neptune::TimePoint;

namespace {

constexpr Duration kStateTimeout = std::chrono::seconds(2);
constexpr uint32_t kPartitionsMax = 10'000;

constexpr Duration kTimeMax = std::chrono::hours(7 * 24);

}  // namespace

void DeclareRenewalParameters(neptune::ParameterTable& table, StatisticsRenewalOptions* options) {
  constexpr Duration kTimeMin = std::chrono::milliseconds(1);
  table.Whole("tier1_partitions", {0, kPartitionsMax}, &options->tier1_partitions,
              "number of tier 1 partitions in the cluster; used by tier 1 with live_path; 0: "
              "statistics are not renewed");
  table.Whole("tier2_partitions", {0, kPartitionsMax}, &options->tier2_partitions,
              "number of tier 2 partitions in the cluster; used by tier 1 with live_path");
  table.Real("statistics_changed_share", {0, 1}, &options->policy.changed_share,
             "statistics are renewed once this share of the documents has changed");
  table.Millis("statistics_period_ms", {kTimeMin, kTimeMax}, &options->policy.period,
               "statistics are also renewed this long after the last renewal, if anything has "
               "changed");
  table.Millis("statistics_timeout_ms", {kTimeMin, kTimeMax}, &options->timeout,
               "maximum duration of a renewal");
}

StatusOr<std::unique_ptr<StatisticsRenewal>> StatisticsRenewal::Start(
    const StatisticsRenewalOptions& options, RenewalEnvironment environment) {
  std::unique_ptr<StatisticsRenewal> renewal(
      new StatisticsRenewal(options, std::move(environment)));
  const auto add = [&](const char* outcome) {
    return renewal->environment_.metrics->AddCounter(
        "search_statistics_renewals_total", "Renewals of the collection's statistics, by outcome.",
        {{"outcome", outcome}});
  };
  NEPTUNE_ASSIGN_OR_RETURN(renewal->done_, add("done"));
  NEPTUNE_ASSIGN_OR_RETURN(renewal->failed_, add("failed"));
  NEPTUNE_ASSIGN_OR_RETURN(renewal->thread_, neptune::ThreadScheduler::Current()->Spawn(
                                                 [self = renewal.get()] {
                                                   self->RunUntilStopped();
                                                   self->has_ended_ = true;
                                                   if (self->stopper_) self->stopper_->Wake();
                                                 },
                                                 "statistics renewal"));
  return renewal;
}

StatisticsRenewal::~StatisticsRenewal() = default;

void StatisticsRenewal::Stop() {
  is_stopping_ = true;
  // If this is not a user-level thread, the node has ended without being stopped: none of its
  // threads runs again.
  if (!thread_ || neptune::UserThread::Current() == nullptr) return;
  stopper_ = neptune::ThreadRef(neptune::UserThread::Current());
  cancellation_.Cancel();
  thread_->Wake();
  // The thread uses this object, so wait for its end even if the node is stopping its threads.
  while (!has_ended_) neptune::this_thread::ParkUntilWoken();
  thread_ = neptune::ThreadRef();
}

void StatisticsRenewal::RunUntilStopped() {
  std::optional<RenewalPolicy> policy;  // set while this node leads
  while (!is_stopping_) {
    const TimePoint now = neptune::this_thread::Now();
    if (neptune::this_thread::Park(now + kStatisticsCheckInterval) ==
        neptune::ParkResult::kStopping) {
      return;
    }
    if (is_stopping_) return;
    if (!environment_.leads()) {
      policy.reset();
      continue;
    }
    if (!policy.has_value()) policy.emplace(options_.policy, now);
    Turn(*policy);
  }
}

neptune::ClientSession StatisticsRenewal::SessionFor(Duration timeout) const {
  const neptune::RequestContext origin({.deadline = neptune::this_thread::Now() + timeout},
                                       cancellation_.call(), *environment_.world);
  neptune::ClientSession session(*environment_.client, origin);
  session.default_timeout = timeout;
  return session;
}

void StatisticsRenewal::Turn(RenewalPolicy& policy) {
  const auto attempt_for = [&](Duration timeout) {
    return RenewalAttempt(
        SessionFor(timeout), AllPartitions(options_.tier1_partitions, options_.tier2_partitions),
        *environment_.background, environment_.working_directory + "/renewed_terms");
  };
  const auto states = attempt_for(kStateTimeout).AskStates();
  // Waits for partitions that do not answer.
  if (!states.ok()) return;
  const neptune::WallTime wall_now = environment_.world->wall_time();
  if (!policy.IsDue(*states, neptune::this_thread::Now(), wall_now)) return;
  const uint64_t number = neptune::Loop::Current()->random().Next();
  const Status renewed =
      attempt_for(options_.timeout).Renew(NextStatisticsVersion(*states, wall_now, number));
  LOG_IF(WARNING, !renewed.ok() && !is_stopping_)
      << "cannot renew the statistics of the collection: " << renewed;
  (renewed.ok() ? done_ : failed_)->Increment();
  policy.NoteAttempt(renewed.ok(), neptune::this_thread::Now());
}

}  // namespace search::index
