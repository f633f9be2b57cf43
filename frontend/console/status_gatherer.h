// Asks every node for its status, for the console.
//
//   page ─► State() ── young enough ──────────────────────────────► what is known
//              └ older ─► one thread asks all nodes at once ─► GET /statusz?format=json of each
//
// Whoever asks meanwhile waits for the same answers, at most kWaitMax; then it gets what was known before. So a
// console that many look at costs the cluster one question a node and second, and a node that hangs costs nobody
// more than that wait.
//
// Threads: thread-safe; State on user-level threads, which wait.
// Limits: kNodesAsked nodes at once, kStatusSizeMax bytes of each; nodes beyond kNodesShown are left out.

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
  static constexpr size_t kStatusSizeMax = size_t{2} << 20;

  StatusGatherer(neptune::Client& client, neptune::World& world) : client_(client), world_(world) {}

  // The latest. Before anything was heard it has the nodes as they are announced, without their tables.
  std::shared_ptr<const ClusterState> State();
  // Waits until nobody asks any more, at most kAskTimeout.
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
