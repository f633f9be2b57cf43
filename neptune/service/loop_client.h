// One loop's half of the client: its connections, its polls, and what it knows of replicas.
//
// Source: [Shen02] 2.2 (client module: yellow page, polling agent).
// Threads: the loop's own.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/balancing/replica_chooser.h"
#include "neptune/base/metrics.h"
#include "neptune/membership/service_yellow_page.h"
#include "neptune/service/retry_budget.h"
#include "neptune/wire/connection_cache.h"

namespace neptune {

struct ClientOptions {
  // Calls and polls go over it; outlives the client. Null: the loop's own network.
  Network* network = nullptr;
  ConnectionCacheOptions connections;
  BalancingOptions balancing;
  // Address that polls are sent from.
  Endpoint poll_bind = {kLoopbackAddress, 0};
  // Failed connections in a row after which a node is excluded until it is heard again (2.4).
  int connection_failures_max = 3;
  // Told of an endpoint that leaves calls or polls without answers; may be null.
  std::function<void(const Endpoint&)> doubt;
  // Retries and hedges of each service: a share of the calls to it, and how many at once, which is what a node that dies
  // with calls in flight needs. Larger: more calls saved, more load where there is too much already. Default: one in
  // ten, and 50.
  double retry_share = 0.1;
  int64_t retry_reserve = 50;
  // Polls that ended before all had answered or one was idle; may be null.
  Counter* slow_polls = nullptr;
};

// Services with a budget of their own; further ones share one.
inline constexpr size_t kRetryBudgetCountMax = 256;

class LoopClient {
 public:
  static StatusOr<std::unique_ptr<LoopClient>> Open(Loop& loop, const ClientOptions& options);

  // True when attempts to connect have failed too often in a row; counting then begins anew.
  bool FailsTooOften(const Endpoint& to);

  // The loop's budget for doing calls to the service twice.
  RetryBudget& retry_budget(std::string_view service);

  ReplicaChooser& chooser() { return *chooser_; }
  ConnectionCache& connections() { return connections_; }
  const YellowPageView& view() const { return *view_; }
  std::shared_ptr<const YellowPageView> shared_view() const { return view_; }
  void set_view(std::shared_ptr<const YellowPageView> view);

 private:
  LoopClient(Loop& loop, const ClientOptions& options);
  const ClientOptions options_;
  ConnectionCache connections_;
  std::unique_ptr<ReplicaChooser> chooser_;
  std::shared_ptr<const YellowPageView> view_;
  std::map<std::string, RetryBudget, std::less<>> retry_budgets_;  // at most kRetryBudgetCountMax
};

}  // namespace neptune
