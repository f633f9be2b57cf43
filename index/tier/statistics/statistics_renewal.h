// Keeps the statistics of the whole collection fresh while documents change. Runs on the leader,
// the primary of tier 1's partition 0; if that is lost, the next primary takes over. Two nodes that
// both believe they lead do no harm, because each uses versions of its own and the larger one wins.
//
// Threads: Start and Stop on user-level threads of one loop of the node, on which its thread runs.
// Errors: a failed attempt is logged and counted; the policy decides when the next one may begin.
// Limits: an attempt takes at most `timeout`; partitions are polled every kStatisticsCheckInterval.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "index/tier/statistics/renewal_policy.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/service/cancellation.h"
#include "neptune/service/client.h"
#include "neptune/service/parameter_table.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/world.h"

namespace search::index {

inline constexpr neptune::Duration kStatisticsCheckInterval = std::chrono::seconds(1);

struct StatisticsRenewalOptions {
  // Numbers of partitions of both tiers in the whole cluster; no partition may be left out.
  // Parameters tier1_partitions, tier2_partitions.
  uint32_t tier1_partitions = 0;
  uint32_t tier2_partitions = 0;
  // Parameters statistics_changed_share, statistics_period_ms.
  RenewalOptions policy;
  // Parameter statistics_timeout_ms. Larger: larger changes can be counted in time. Default: 60 s.
  neptune::Duration timeout = std::chrono::seconds(60);
};

// Declares the parameters that set the options; tier1_partitions 0: statistics are not renewed.
void DeclareRenewalParameters(neptune::ParameterTable& table, StatisticsRenewalOptions* options);

struct RenewalEnvironment {
  neptune::Client* client = nullptr;
  neptune::World* world = nullptr;
  neptune::MetricsRegistry* metrics = nullptr;
  // Runs long computations; must outlive the agent.
  neptune::Loop* background = nullptr;
  std::function<bool()> leads;
  // Folder for a temporary file.
  std::string working_directory;
};

class StatisticsRenewal {
 public:
  static neptune::StatusOr<std::unique_ptr<StatisticsRenewal>> Start(
      const StatisticsRenewalOptions& options, RenewalEnvironment environment);
  // REQUIRES: Stop has returned, or the node's threads no longer run.
  ~StatisticsRenewal();
  // Cancels the current attempt; parks until nothing of it runs. Idempotent.
  void Stop();

 private:
  StatisticsRenewal(const StatisticsRenewalOptions& options, RenewalEnvironment environment)
      : options_(options), environment_(std::move(environment)) {}

  void RunUntilStopped();
  void Turn(RenewalPolicy& policy);
  neptune::ClientSession SessionFor(neptune::Duration timeout) const;

  const StatisticsRenewalOptions options_;
  const RenewalEnvironment environment_;
  // Cancels the calls that are under way.
  neptune::Cancellation cancellation_;
  neptune::Counter* done_ = nullptr;
  neptune::Counter* failed_ = nullptr;
  neptune::ThreadRef thread_;
  neptune::ThreadRef stopper_;
  bool is_stopping_ = false;
  bool has_ended_ = false;
};

}  // namespace search::index
