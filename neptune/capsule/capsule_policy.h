// Queueing policy of a capsule: what to do with a call that arrives, and the order of waiting
// calls.
//
//   call ─► Arrive ─► kProceed: enters; waits if processing_count_max calls are with the dependency
//                ├──► kDelay: the same after a delay
//                ├──► kTerminate: fails
//                └──► kMigrate: enters another capsule, for instance that of a replica
//   waiting call: Wait, then exactly one of Next (its turn has come) and Forget (it gave up)
//
// Built in: first come first served; round robin over callers; priority by service class. Other
// policies are shared libraries (policy_plugin.h).
//
// Source: [Chu05] IV.A (scheduling policy), IV.D (FIFO, round-robin, plug-in modules), I (delayed,
//   terminated or migrated).
// No I/O, no clock.
// Threads: thread-compatible; a capsule calls its policy under its lock.
// Units: times are TimePoint; priority 0 is the highest.
// Limits: the capsule bounds the number of waiting calls.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/capsule/classification_rule.h"

namespace neptune {

// One call as its policy sees it.
struct CapsuleCall {
  uint64_t id = 0;      // unique in its capsule, never 0; 0 in Arrive
  uint64_t caller = 0;  // distinguishes callers, for round robin
  int priority = 0;     // priority of the service class; 0 is the highest
  TimePoint entered{};
  TimePoint deadline = kNever;
  bool may_migrate = true;
  // Set in Arrive only.
  std::string_view service_class{};
  BlockingOperation operation{};
};

// Occupancy of the capsule, not counting the call that arrives.
struct CapsuleOccupancy {
  size_t resident_count = 0;
  size_t waiting_count = 0;
  size_t processing_count = 0;
  size_t resident_count_max = 0;
  size_t processing_count_max = 0;
  Duration mean_time{0};  // moving average of the time inside
};

struct PolicyDecision {
  enum class Action { kProceed, kDelay, kTerminate, kMigrate };
  Action action = Action::kProceed;
  Duration delay{0};   // kDelay: the policy is not asked again after it
  std::string target;  // kMigrate: the name of another capsule
};

class CapsulePolicy {
 public:
  virtual ~CapsulePolicy() = default;
  // Decides on a call that arrives. The capsule's bounds may still refuse a call that proceeds or
  // is delayed.
  virtual PolicyDecision Arrive(const CapsuleCall& call, const CapsuleOccupancy& now) { return {}; }
  // Adds a waiting call.
  virtual void Wait(const CapsuleCall& call) = 0;
  // Removes a waiting call before its turn.
  virtual void Forget(uint64_t id) = 0;
  // Removes and returns the waiting call whose turn it is. Called when a call ends or begins to
  // wait and there is room. nullopt: start none before another call ends; forbidden while no call
  // is with the dependency, since Next would never be called again.
  virtual std::optional<uint64_t> Next(const CapsuleOccupancy& now) = 0;
};

enum class PolicyKind { kFifo, kRoundRobin, kPriority, kPlugin };

struct PolicyConfig {
  PolicyKind kind = PolicyKind::kFifo;
  // kPriority: service classes, the highest first; unlisted classes come last.
  std::vector<std::string> classes;
  // kPlugin: the shared library, and the text passed to it verbatim.
  std::string library;
  std::string parameters;
};

// REQUIRES: `kind` is not kPlugin.
std::unique_ptr<CapsulePolicy> MakeBuiltInPolicy(PolicyKind kind);
// Priority of a call of the service class: its index in `classes`, or their number if unlisted.
int PriorityOf(const PolicyConfig& config, std::string_view service_class);

std::unique_ptr<CapsulePolicy> MakeFifoPolicy();
// One call of each caller in turn; calls of one caller in order of arrival.
std::unique_ptr<CapsulePolicy> MakeRoundRobinPolicy();
// The smallest priority number first; equal ones in order of arrival.
std::unique_ptr<CapsulePolicy> MakePriorityPolicy();

}  // namespace neptune
