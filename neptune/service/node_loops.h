// The loops of a node, each with its thread scheduler and its part of the client.
//
//   control          membership, probes, replication's protocol; no requests of users
//   serve-0, ...     connections and short requests
//   work-0, ...      long requests, at lower priority
//   apply            executes replicated writes; on nodes that keep replicas
//
// Threads: the set is fixed before the first request; NodeLoop's parts are used on their own loop.

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "neptune/thread/user_thread.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace neptune {

class LoopClient;
class LoopTurns;
class WorkerQueue;

enum class LoopRole { kControl, kServing, kWorking, kApplying };

// Returns the priority of the kernel thread of such a loop.
LoopPriority PriorityOf(LoopRole role);

struct NodeLoop {
  NodeLoop();
  ~NodeLoop();
  std::string name;
  Loop* loop = nullptr;
  LoopRole role = LoopRole::kServing;
  std::unique_ptr<Network> secured;  // null: nodes trust their network
  // Connections to other nodes.
  Network& network() const { return secured != nullptr ? *secured : loop->network(); }
  std::unique_ptr<ThreadScheduler> scheduler;
  std::unique_ptr<LoopClient> client;
  std::unique_ptr<LoopTurns> turns;  // of its long computations
  TimePoint in_place_end;            // end of the latest request that ran on the loop that read it
  std::string answer_room;           // buffer for the answers of methods that never wait
};

class NodeLoops {
 public:
  explicit NodeLoops(World& world);
  ~NodeLoops();

  NodeLoop& Add(const std::string& name, LoopRole role, Loop* loop);
  // The calling loop. REQUIRES: the caller runs on a loop of this node.
  NodeLoop& Current() const;
  World& world() const { return world_; }
  const std::vector<std::unique_ptr<NodeLoop>>& all() const { return all_; }
  // Loops for long requests; the serving loops if there are none.
  const std::vector<NodeLoop*>& workers() const { return working_.empty() ? serving_ : working_; }
  const std::vector<NodeLoop*>& serving() const { return serving_; }
  // Hands work to the workers.
  WorkerQueue& worker_queue() const { return *worker_queue_; }

  // Active and queued requests of all services of the node. Any thread.
  uint32_t load_index() const { return load_.load(std::memory_order_relaxed); }
  void CountLoad(int requests) { load_ += static_cast<uint32_t>(requests); }

 private:
  World& world_;
  std::vector<std::unique_ptr<NodeLoop>> all_;
  std::vector<NodeLoop*> serving_;
  std::vector<NodeLoop*> working_;
  const std::unique_ptr<WorkerQueue> worker_queue_;
  std::atomic<uint32_t> load_{0};
};

}  // namespace neptune
