// The per-loop part of the client: connections, calls within the node, load polls, and the view of
// the replicas.
//
// Source: [Shen02] 2.2 (client module: yellow page, polling agent).
// Threads: the loop's own.

#pragma once

#include <array>
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
#include "neptune/wire/local_calls.h"

namespace neptune {

struct ClientOptions {
  // Network for calls and polls; outlives the client. Null: the loop's own network.
  Network* network = nullptr;
  ConnectionCacheOptions connections;
  BalancingOptions balancing;
  // Source address of polls.
  Endpoint poll_bind = {kLoopbackAddress, 0};
  // Consecutive failed connections after which a node is excluded until it announces itself again
  // (2.4).
  int connection_failures_max = 3;
  // Called with an endpoint that does not answer calls or polls; may be null.
  std::function<void(const Endpoint&)> doubt;
  // Budget for retries and hedges of each service: a share of the calls to it, and a reserve for
  // the burst after a node dies with calls in flight. Larger: more calls are saved, at more load on
  // servers that may be overloaded. Default: one in ten calls, and 50.
  double retry_share = 0.1;
  int64_t retry_reserve = 50;
  // Counts polls that timed out, i.e. ended before all servers answered or one was idle; may be
  // null.
  Counter* slow_polls = nullptr;
};

// Services with a budget of their own; further ones share one.
inline constexpr size_t kRetryBudgetCountMax = 256;

class LoopClient {
 public:
  static StatusOr<std::unique_ptr<LoopClient>> Open(Loop& loop, const ClientOptions& options);

  // Calls to `own`, the endpoint at which this node takes calls, go to `local` from now on, without
  // a connection. `load_index`: that of this node, any thread.
  void ServeLocally(const Endpoint& own, std::shared_ptr<LocalCalls> local,
                    std::function<uint32_t()> load_index);
  // Returns a usable channel to the server; parks while a connection is being opened. The pointer
  // keeps the channel alive. Errors: those of ConnectionCache::Get.
  StatusOr<std::shared_ptr<CallChannel>> ChannelTo(const Endpoint& to, TimePoint deadline);
  // Returns a usable channel if there is one without waiting, else null. Event handlers may call
  // it.
  std::shared_ptr<CallChannel> FindChannel(const Endpoint& to);
  // True if too many attempts to connect have failed in a row; the count is then reset.
  bool FailsTooOften(const Endpoint& to);

  // What calls of a partition need: its replicas in view(), and the loop's budget for retries and
  // hedges of calls to the service.
  struct Target {
    const std::vector<Replica>* replicas = nullptr;  // until the view is replaced
    RetryBudget* budget = nullptr;
  };
  Target TargetOf(const ServiceName& service, PartitionId partition);

  ReplicaChooser& chooser() { return *chooser_; }
  ConnectionCache& connections() { return connections_; }
  const YellowPageView& view() const { return *view_; }
  std::shared_ptr<const YellowPageView> shared_view() const { return view_; }
  void set_view(std::shared_ptr<const YellowPageView> view);

 private:
  // A partition that was called lately, so that it need not be looked for.
  struct Known {
    ServiceName service;
    PartitionId partition;
    Target target;  // without replicas: of an older view
  };

  LoopClient(Loop& loop, const ClientOptions& options);
  RetryBudget& BudgetOf(const std::string& service);

  const ClientOptions options_;
  ConnectionCache connections_;
  Endpoint own_;                       // of local_
  std::shared_ptr<LocalCalls> local_;  // null: all calls use connections
  std::unique_ptr<ReplicaChooser> chooser_;
  std::shared_ptr<const YellowPageView> view_;
  std::map<std::string, RetryBudget, std::less<>> retry_budgets_;  // at most kRetryBudgetCountMax
  std::array<Known, 64> known_;  // by some of their names and number
};

}  // namespace neptune
