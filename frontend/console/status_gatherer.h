// Fetches the status of every node for the console.
//
//   page ─► State() ── recent ────────────────────────────────────► latest snapshot
//              └ stale ─► one thread asks all nodes in parallel ─► GET /statusz?format=json of each
//
// Concurrent callers wait for the same round, at most kWaitMax, and then get the previous snapshot.
// However many users watch the console, each node gets at most one request a second, and a node
// that hangs delays no caller by more than kWaitMax.
//
// Threads: thread-safe; State on user-level threads, which wait.
// Limits: kNodesAsked nodes at once, kStatusSizeMax bytes of each; nodes beyond kNodesShown are
//   left out.

#pragma once

#include <memory>
#include <vector>

#include "frontend/console/cluster_state.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/service/client.h"
#include "neptune/world/world.h"

namespace search::frontend {

class StatusGatherer {
 public:
  static constexpr neptune::Duration kFreshFor = std::chrono::seconds(1);
  static constexpr neptune::Duration kAskTimeout = std::chrono::milliseconds(300);
  static constexpr neptune::Duration kWaitMax = std::chrono::milliseconds(30);
  static constexpr size_t kNodesAsked = 64;
  static constexpr size_t kNodesShown = 512;

  StatusGatherer(neptune::Client& client, neptune::World& world) : client_(client), world_(world) {}

  // The latest snapshot. Before the first round it has the announced nodes without their tables.
  std::shared_ptr<const ClusterState> State();
  // Waits until no round is in progress, at most kAskTimeout.
  void Finish();

 private:
  ClusterState FromView() const;
  void Gather();
  void AskNodes(ClusterState* state) const;

  neptune::Client& client_;
  neptune::World& world_;
  mutable neptune::LeafMutex mutex_;
  std::shared_ptr<const ClusterState> state_ ABSL_GUARDED_BY(mutex_);
  neptune::TimePoint gathered_at_ ABSL_GUARDED_BY(mutex_){};
  bool is_gathering_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace search::frontend
