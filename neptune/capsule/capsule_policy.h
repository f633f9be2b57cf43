// In which order the calls of a capsule go to the dependency, and what becomes of one that arrives.
//
//   call ─► Arrive ─► kProceed: goes in, or waits its turn while as many as possible are with the dependency
//                ├──► kDelay: the same after a while
//                ├──► kTerminate: ends here
//                └──► kMigrate: enters another capsule, for instance that of a replica
//   waiting calls: Wait, then once each Next (its turn has come) or Forget (it gave up)
//
// Built in: first come first served; round robin over the callers; priority of the service class. Others are shared
// libraries (policy_plugin.h).
//
// Source: [Chu05] IV.A (scheduling policy), IV.D (FIFO, round-robin, plug-in modules), I (delayed,
//   terminated or migrated).
// No I/O, no clock.
// Threads: thread-compatible; a capsule calls its policy under its lock.
// Units: times are TimePoint; priority 0 is the highest.
// Limits: the number of calls that wait is the capsule's.

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
  uint64_t id = 0;      // unique in its capsule, never 0; in Arrive 0
  uint64_t caller = 0;  // who calls; round robin goes over these
  int priority = 0;     // of the service class; 0 is the highest
  TimePoint entered{};
  TimePoint deadline = kNever;
  bool may_migrate = true;
  // In Arrive only.
  std::string_view service_class{};
  BlockingOperation operation{};
};

// How full the capsule is; a call that arrives is not counted yet.
struct CapsuleOccupancy {
  size_t resident_count = 0;
  size_t waiting_count = 0;
  size_t processing_count = 0;
  size_t resident_count_max = 0;
  size_t processing_count_max = 0;
  Duration mean_time{0};  // inside, of late
};

struct PolicyDecision {
  enum class Action { kProceed, kDelay, kTerminate, kMigrate };
  Action action = Action::kProceed;
  Duration delay{0};   // of kDelay; the policy is not asked again after it
  std::string target;  // of kMigrate: the name of another capsule
};

class CapsulePolicy {
 public:
  virtual ~CapsulePolicy() = default;
  // A call that wants in. What proceeds or is delayed, the bounds may still turn away.
  virtual PolicyDecision Arrive(const CapsuleCall& call, const CapsuleOccupancy& now) { return {}; }
  // The call waits for its turn from now on.
  virtual void Wait(const CapsuleCall& call) = 0;
  // It does no more, although its turn has not come.
  virtual void Forget(uint64_t id) = 0;
  // The waiting call whose turn it is, which waits no more. It is asked when a call ends or begins to wait, and there
  // is room. nullopt: none before another call ends; while none is with the dependency that would be never.
  virtual std::optional<uint64_t> Next(const CapsuleOccupancy& now) = 0;
};

enum class PolicyKind { kFifo, kRoundRobin, kPriority, kPlugin };

struct PolicyConfig {
  PolicyKind kind = PolicyKind::kFifo;
  // Of kPriority: service classes, the highest first; others come after all of these.
  std::vector<std::string> classes;
  // Of kPlugin: the shared library, and what is handed to it as it stands.
  std::string library;
  std::string parameters;
};

// A built-in one. REQUIRES: it is no plug-in.
std::unique_ptr<CapsulePolicy> MakeBuiltInPolicy(PolicyKind kind);
// The priority of a call of that service class.
int PriorityOf(const PolicyConfig& config, std::string_view service_class);

std::unique_ptr<CapsulePolicy> MakeFifoPolicy();
// One call of each caller in turn; a caller's own in their order.
std::unique_ptr<CapsulePolicy> MakeRoundRobinPolicy();
// The smallest priority number first; equal ones in their order.
std::unique_ptr<CapsulePolicy> MakePriorityPolicy();

}  // namespace neptune
