// Work for the worker loops of a node: an idle one takes it at once, otherwise the first that is
// free. Where the loops that read requests are the worker loops, too, the one that posts it takes
// it as soon as its thread parks, unless it is at other work: no thread has to be woken.
//
//   Post ─► queue ─► a worker loop: one piece, then the next one if more wait
//
// Work does not wait for a loop that runs a user-level thread, for however long, while another one
// is idle. (Exceptions: a loop whose thread becomes ready just after it was asked, and a short
// method that goes on computing after it has posted work.) While all are busy, long computations on
// them give way to it at their stop checks (loop_turns.h).
//
// Threads: Post on any thread; the work runs on a worker loop, as an event handler.
// Limits: none; the owners of the work bound it.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/service/node_loops.h"

namespace neptune {

class WorkerQueue {
 public:
  using Work = absl::AnyInvocable<void(NodeLoop& worker)>;

  // `loops` must outlive this object. REQUIRES: its set is fixed before the first Post.
  explicit WorkerQueue(const NodeLoops& loops) : loops_(loops) {}
  ~WorkerQueue() { *alive_ = false; }

  // Long computations of the same `group` and of others give way to it, see turn_order.h.
  void Post(Work work, uint64_t group = 0);

 private:
  // Returns the workers that are to look into the queue: an idle one, or all that have not been
  // asked yet. Of idle ones, the one with the fewest threads that wait for something, as these can
  // go on only there; of such, the one that was asked last, as its caches are warm.
  std::vector<size_t> Choose() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The worker loop that calls, if it reads requests, too, and no work is begun on it.
  std::optional<size_t> FreeHere() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteAsked(size_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Ask(size_t number);
  void Take(size_t number);

  const NodeLoops& loops_;
  LeafMutex mutex_;
  struct Waiting {
    Work work;
    uint64_t group = 0;
  };
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  struct Worker {
    bool is_asked = false;  // it will look into the queue
    bool has_work = false;  // it begins a piece of work, or runs it
  };
  std::vector<Worker> workers_ ABSL_GUARDED_BY(mutex_);
  // The idle worker that was asked last, whose caches are warm: it is asked again if it is idle.
  size_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  // False once the queue is destroyed. Shared with tasks that may outlive it.
  const std::shared_ptr<std::atomic<bool>> alive_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace neptune
