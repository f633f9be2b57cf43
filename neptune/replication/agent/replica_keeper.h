// Keeps one partition's replica working on this node: opens it, and opens it again after it failed.
//
//   Start ─► agent works ──log or data fail──► closed ──delay──► opened ──► agent works
//                 ▲                               ▲                │
//                 │                               └────fails───────┘
//                 └─── damaged data were replaced: opened again at once
//
// Each agent (ReplicaAgent) is one life of the replica, from the opening of its log and data to its
// failure; to the other members it is a member that has restarted. The next agent is made after all
// threads and calls of the former one have ended and its stores are closed. Meanwhile requests are
// answered with kUnavailable and the partition is not announced. A replica that does not open does
// not keep its node from starting, unless an operator must act: the log of another cluster,
// service, partition, node or membership, or options that are not valid.
//
// Threads: Start, Stop and in_use on the control loop, Start on a user-level thread of it; the rest
//   on any thread.
// Units: times are TimePoint of the control loop.
// Errors: Start: kFailedPrecondition and kInvalidArgument, as ReplicaAgent::Start. All others are
//   shown by health and retried.
// Limits: one attempt at a time, after delays as in reopen_backoff.h.

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/agent/reopen_backoff.h"
#include "neptune/replication/agent/replica_agent.h"
#include "neptune/replication/agent/scrub_pass.h"

namespace neptune {

class ReplicaKeeper {
 public:
  // `hooks.on_end` is the keeper's.
  ReplicaKeeper(ReplicaAgentOptions options, ReplicaAgent::Hooks hooks);
  ~ReplicaKeeper();

  // Opens the replica for the first time; its failures are retried from then on.
  Status Start();
  // Stops the replica and opens it no more; all has ended once in_use() is false.
  void Stop();
  bool in_use() const;

  // The replica's current life; null while it is not open. It may fail at any time.
  std::shared_ptr<ReplicaAgent> agent() const;
  // The same, with the reason why it is not open.
  StatusOr<std::shared_ptr<ReplicaAgent>> AgentNow() const;
  // The state of the current agent, or what the last one had when it ended.
  ReplicaAgent::State status() const;
  // A reader found stored data damaged.
  void ReportDamage(const Status& damage);

  struct Health {
    // OK: the replica works. Otherwise why it does not, or why its data are being replaced.
    Status failure;
    // Failures since the replica last worked for kReopenHealthyMin.
    int failure_count = 0;
    // When it is opened again; kNever: it is open, or being opened or closed.
    TimePoint next_attempt = kNever;
    // How often it was opened again, and how often stored data were found damaged.
    uint64_t reopen_count = 0;
    uint64_t damage_count = 0;
    // The checks of the stored data.
    ScrubProgress scrub;
  };
  Health health() const;
  void NoteScrub(const ScrubProgress& progress);
  // Whether the module can use the data; shown by health while the replica itself works.
  void NoteUse(const Status& use);
  // "registers/0".
  std::string name() const;
  const ReplicaAgentOptions& options() const { return options_; }
  bool is_write_anywhere() const { return options_.level == ConsistencyLevel::kWriteAnywhere; }
  NodeId NodeOf(MemberIndex member) const { return options_.group.members[member].node; }

 private:
  // The agent has ended.
  void HandleEnd();
  void SpawnReopening();
  // Closes the agent and opens new ones until one works or the keeper stops.
  void Reopen();
  bool Close();
  void AwaitAttempt();
  Status Open();
  // Plans the next attempt after a failure.
  void NoteFailure(const Status& failure);

  const ReplicaAgentOptions options_;
  ReplicaAgent::Hooks hooks_;
  Loop& loop_;  // the control loop

  // Used on the control loop only.
  std::shared_ptr<ReplicaAgent> owned_;  // from its making until it is closed
  ReopenBackoff backoff_;
  ReplicaAgent::Opening next_opening_;
  TimePoint next_attempt_ = kNever;
  bool is_reopening_ = false;
  ThreadRef reopening_;
  std::atomic<bool> stopping_{false};
  const std::unique_ptr<ReplicaDevice> device_;  // for closing; used until stopping_

  mutable LeafMutex mutex_;
  std::shared_ptr<ReplicaAgent> agent_ ABSL_GUARDED_BY(mutex_);  // null: not open
  ReplicaAgent::State last_ ABSL_GUARDED_BY(mutex_);
  Health health_ ABSL_GUARDED_BY(mutex_);
  Status use_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
