#include "neptune/service/node_loops.h"

#include <glog/logging.h>

#include "neptune/service/loop_client.h"
#include "neptune/service/worker_queue.h"

namespace neptune {

NodeLoop::NodeLoop() = default;
NodeLoop::~NodeLoop() = default;

NodeLoops::NodeLoops(World& world)
    : world_(world), worker_queue_(std::make_unique<WorkerQueue>(*this)) {}
NodeLoops::~NodeLoops() = default;

NodeLoop& NodeLoops::Add(const std::string& name, LoopPriority priority, Loop* loop) {
  auto added = std::make_unique<NodeLoop>();
  added->name = name;
  added->loop = loop;
  added->priority = priority;
  (priority == LoopPriority::kServing ? serving_ : background_).push_back(added.get());
  all_.push_back(std::move(added));
  return *all_.back();
}

NodeLoop& NodeLoops::Current() const {
  Loop* const loop = Loop::Current();
  for (const auto& candidate : all_) {
    if (candidate->loop == loop) return *candidate;
  }
  LOG(FATAL) << "called outside the loops of this node";
}

}  // namespace neptune
