#include "neptune/service/node_loops.h"

#include <glog/logging.h>

#include "neptune/service/loop_client.h"
#include "neptune/service/loop_turns.h"
#include "neptune/service/worker_queue.h"

namespace neptune {

NodeLoop::NodeLoop() = default;
NodeLoop::~NodeLoop() = default;

NodeLoops::NodeLoops(World& world)
    : world_(world), worker_queue_(std::make_unique<WorkerQueue>(*this)) {}
NodeLoops::~NodeLoops() = default;

LoopPriority PriorityOf(LoopRole role) {
  switch (role) {
    case LoopRole::kControl:
      return LoopPriority::kControl;
    case LoopRole::kWorking:
      return LoopPriority::kBackground;
    default:
      return LoopPriority::kServing;
  }
}

NodeLoop& NodeLoops::Add(const std::string& name, LoopRole role, Loop* loop) {
  auto added = std::make_unique<NodeLoop>();
  added->name = name;
  added->loop = loop;
  added->role = role;
  added->turns = std::make_unique<LoopTurns>(*loop, *this, role == LoopRole::kServing);
  if (role == LoopRole::kServing) serving_.push_back(added.get());
  if (role == LoopRole::kWorking) working_.push_back(added.get());
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
