// The load index of a service: its active and queued requests, which also count for its node.
//
// Threads: thread-safe.

#pragma once

#include <atomic>
#include <cstdint>

#include "neptune/service/node_loops.h"

namespace neptune {

class ServiceLoad {
 public:
  explicit ServiceLoad(NodeLoops& loops) : loops_(loops) {}

  // Each Begin is followed by one End.
  void Begin() {
    ++requests_;
    loops_.CountLoad(1);
  }
  void End() {
    --requests_;
    loops_.CountLoad(-1);
  }
  uint32_t index() const { return requests_.load(std::memory_order_relaxed); }
  uint32_t index_of_node() const { return loops_.load_index(); }

 private:
  NodeLoops& loops_;
  std::atomic<uint32_t> requests_{0};
};

}  // namespace neptune
