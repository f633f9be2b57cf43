// The loops of a node, each with its thread scheduler and its part of the client.
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
class WorkerQueue;

struct NodeLoop {
  NodeLoop();
  ~NodeLoop();
  std::string name;
  Loop* loop = nullptr;
  LoopPriority priority = LoopPriority::kServing;
  std::unique_ptr<Network> secured;  // null: nodes trust their network
  // Connections to other nodes.
  Network& network() const { return secured != nullptr ? *secured : loop->network(); }
  std::unique_ptr<ThreadScheduler> scheduler;
  std::unique_ptr<LoopClient> client;
  TimePoint in_place_end;  // end of the latest request that ran on the loop that read it
};

class NodeLoops {
 public:
  explicit NodeLoops(World& world);
  ~NodeLoops();

  NodeLoop& Add(const std::string& name, LoopPriority priority, Loop* loop);
  // The calling loop. REQUIRES: the caller runs on a loop of this node.
  NodeLoop& Current() const;
  World& world() const { return world_; }
  const std::vector<std::unique_ptr<NodeLoop>>& all() const { return all_; }
  // Loops for long requests; the serving loops if there are no background loops.
  const std::vector<NodeLoop*>& workers() const {
    return background_.empty() ? serving_ : background_;
  }
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
  std::vector<NodeLoop*> background_;
  const std::unique_ptr<WorkerQueue> worker_queue_;
  std::atomic<uint32_t> load_{0};
};

}  // namespace neptune
