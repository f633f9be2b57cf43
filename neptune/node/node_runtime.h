// The loops of a node with their schedulers, and how its start and its stop wait.
//
//   control              membership, probes, replication's protocol, the node's start and stop
//   serve-0, serve-1,    requests; the first also starts and stops the modules
//   work-0, work-1, ...  long requests, at lower priority
//   apply                replicated writes, on nodes that keep replicas
//
// Invariant: the set of loops is complete after StartLoops and fixed from then on; each has a
// scheduler after PrepareAll. The control loop exists from StartControl on.
//
// Threads: StartControl and Post from any thread; the rest on user-level threads of the control
//   loop.
// Errors: those of World::StartLoop.

#pragma once

#include <functional>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/service/node_loops.h"

namespace neptune {

class NodeSpec;

class NodeRuntime {
 public:
  explicit NodeRuntime(World& world) : world_(world), loops_(world) {}

  Status StartControl();
  bool has_control() const { return control_ != nullptr; }
  NodeLoop& control() const { return *control_; }
  NodeLoops& loops() { return loops_; }
  const NodeLoops& loops() const { return loops_; }

  // Runs `work` on the control loop.
  void Post(Task work) const { control_->loop->Post(std::move(work)); }
  // Starts a user-level thread on the control loop. REQUIRES: on that loop.
  Status Spawn(Task body, std::string name) const;

  // Starts the other loops of the node.
  Status StartLoops(const NodeSpec& spec, bool keeps_replicas);
  // Gives each loop a scheduler and runs `prepare` on it; ends at the first error.
  Status PrepareAll(const std::function<Status(NodeLoop&)>& prepare);

  // The loop that executes replicated writes. REQUIRES: StartLoops with keeps_replicas.
  NodeLoop& apply() const { return *apply_; }

  // Runs `work` on the user-level thread "modules" of the first serving loop, and parks until it
  // has returned. Modules are started and stopped there: what they spawn meanwhile runs among
  // requests, not on the control loop. Before PrepareAll, and after EndModules, it runs in place.
  void RunForModules(absl::AnyInvocable<void()> work);
  // Ends that thread.
  void EndModules();

  // Runs `work` on `loop` and parks until it has returned.
  static void RunOn(NodeLoop& loop, absl::AnyInvocable<void()> work);
  // The same on each loop in turn.
  void RunOnAll(absl::FunctionRef<void(NodeLoop&)> work);
  // Waits until `done` returns true, for at most `limit`; returns the last result. Stopping the
  // control loop's threads does not end this wait.
  bool WaitUntil(const std::function<bool()>& done, Duration limit) const;
  // True if no user-level thread lives but the calling one.
  bool OnlyThisThreadLives();

 private:
  static void MakeScheduler(NodeLoop& loop);
  Status StartLoop(std::string name, LoopRole role);
  void RunModules();

  World& world_;
  NodeLoops loops_;
  NodeLoop* control_ = nullptr;
  NodeLoop* apply_ = nullptr;
  ThreadRef modules_;  // null: it does not run
  LeafMutex modules_mutex_;
  absl::AnyInvocable<void()> modules_work_ ABSL_GUARDED_BY(modules_mutex_);
  bool modules_end_ ABSL_GUARDED_BY(modules_mutex_) = false;
};

}  // namespace neptune
