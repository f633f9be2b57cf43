// Permission for one blocking operation to be in its capsule.
//
//   CapsulePermit permit;
//   NEPTUNE_RETURN_IF_ERROR(
//       permit.Enter(stack, NetworkOperation{.address = a, .port = p}, {.deadline = deadline}));
//   ... do it, waiting until permit.deadline() at the latest, parked in place ...
//   permit.Leave(ok ? CapsuleOutcome::kDone : CapsuleOutcome::kFailed);
//
// A caller outside of `neptune/node`, such as a library that interposes libc, creates one
// CapsuleStack for its process with helper threads (CapsuleStackOptions), loads a capsule file into
// it (LoadCapsuleFile, Load), and acquires a permit around each operation that would block, on the
// user-level thread that makes it. The operation says what the caller knows: address and port of
// the peer, the name that the address was resolved from, the path of a file. An operation on a path
// goes through RunOnDevice instead. An operation that does not block needs no permit; it is then
// only missing from the statistics.
//
// Status of Enter, with the usual errno for a foreign caller. Each message names the capsule.
//   RESOURCE_EXHAUSTED  refused at a bound                         EAGAIN
//   UNAVAILABLE         bypassed                                   ECONNREFUSED, EHOSTUNREACH
//   ABORTED             terminated by the policy                   ECANCELED
//   CANCELLED           caller gave up, or scheduler is stopping   ECANCELED
//   DEADLINE_EXCEEDED   timed out before its turn                  ETIMEDOUT
//
// A policy, or a capsule that refuses, may send the call to another capsule, e.g. that of a
// replica: migrated() is then true, and a caller that can choose its peer should choose one that
// capsule() takes.
//
// Source: [Chu05] IV.A (migration of a thread into a capsule and back), V.B.
// Departs from source: the thread stays on its kernel thread; only its place migrates.
// Threads: a permit belongs to one loop. Enter parks and so needs a user-level thread; Begin does
//   not park, and serves event handlers whose calls hold a place although no thread waits.
// Limits: kMigrationCountMax migrations per permit.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "neptune/base/status.h"
#include "neptune/capsule/capsule.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/thread/user_thread.h"

namespace neptune {

inline constexpr int kMigrationCountMax = 4;

using CapsuleOutcome = CapsuleControl::Outcome;

// True if the error, possibly annotated and from another node, was returned because a capsule
// bypasses the dependency. Matches the message text, which therefore must not change.
bool SaysBypassed(const Status& status);

struct VisitOptions {
  // The operation's own deadline; the capsule may shorten it.
  TimePoint deadline = kNever;
  // Any number that distinguishes callers, used by round robin.
  uint64_t caller = 0;
  // Used by the priority policy.
  std::string_view service_class{};
  // Whether the call may migrate to another capsule; false if the peer is fixed, e.g. on a
  // connection. The call then proceeds even if the policy says migrate.
  bool may_migrate = true;
  // Called after each wake; true cancels the wait. The canceller must wake the thread. Unset:
  // never.
  std::function<bool()> given_up{};
  // The current time, if the caller has just read it. Unset: it is read.
  std::optional<TimePoint> now{};
};

class CapsulePermit {
 public:
  CapsulePermit() = default;
  // Calls Leave(kCancelled) if still inside.
  ~CapsulePermit();
  CapsulePermit(const CapsulePermit&) = delete;
  CapsulePermit& operator=(const CapsulePermit&) = delete;

  // Finds the operation's capsule and enters it; parks until its turn. After OK the permit is
  // inside until Leave. If no capsule takes the operation, returns OK without being inside.
  // REQUIRES: not inside.
  Status Enter(CapsuleStack& stack, const BlockingOperation& operation,
               const VisitOptions& options = {});

  // Like Enter, for event handlers: never parks, and returns nullopt if the call has to wait.
  // `on_turn` is then called once when its turn has come, on the loop of this call, unless Leave
  // came first. The caller must enforce the deadline itself by calling Leave. A policy's delay
  // counts as waiting.
  std::optional<Status> Begin(CapsuleStack& stack, const BlockingOperation& operation,
                              const VisitOptions& options, Task on_turn);

  // Ends the operation, or the wait for its turn. Idempotent.
  void Leave(CapsuleOutcome outcome);
  // The same if the caller has just read the time.
  void Leave(CapsuleOutcome outcome, TimePoint now);

  // True while the permit counts as a resident of capsule().
  bool inside() const { return place_ != Capsule::Place::kOutside; }
  // The current or last capsule, or the one that turned the call away; null: none.
  const Capsule* capsule() const { return capsule_.get(); }
  // The earlier of the caller's own deadline and the capsule's.
  TimePoint deadline() const { return deadline_; }
  // True if the capsule's deadline comes before the caller's own.
  bool limited_by_capsule() const { return limited_by_capsule_; }
  bool migrated() const { return migrated_; }
  // True if the latest Enter had to wait for its turn.
  bool waited() const { return waited_; }
  // "capsule 'NAME'", for messages.
  std::string Where() const;

 private:
  friend class Capsule;
  friend class DeviceCall;
  // A turn that an event handler waits for; used on its loop only.
  struct Turn {
    Task on_turn;
    bool awaited = true;
  };

  // Tries capsules, following migrations, until one decides. OK: inside, or no capsule takes it.
  Status Arrive(CapsuleStack& stack, const BlockingOperation& operation,
                const VisitOptions& options);
  Status Refusal(Capsule::Arrival arrival) const;
  void EndDelay(TimePoint now);
  Status AwaitTurn(const VisitOptions& options);
  void AwaitEndOfDelay();
  static void SignalTurn(const std::shared_ptr<Turn>& turn);
  void End(CapsuleOutcome outcome, bool left_behind, std::optional<TimePoint> now = std::nullopt);
  // Called by the capsule before the permit becomes visible to other threads as waiting.
  void PrepareToWait();
  // Returns the function that wakes the waiter for its turn; called by the capsule once.
  absl::AnyInvocable<void()> ReleaseWaker();

  CapsuleStack::Use capsule_;
  CapsuleCall call_;
  std::atomic<Capsule::Place> place_{Capsule::Place::kOutside};
  bool limited_by_capsule_ = false;
  bool migrated_ = false;
  bool waited_ = false;
  // Set by the capsule.
  CapsuleControl::Verdict admitted_ = CapsuleControl::Verdict::kEnter;
  TimePoint entered_at_{};
  TimePoint not_before_{};
  TimePoint deadline_ = kNever;
  uint64_t id_ = 0;
  // Number of the thread whose place it has; kNotQuick: it entered under the capsule's lock.
  static constexpr size_t kNotQuick = ~size_t{0};
  size_t quick_thread_ = kNotQuick;
  std::string migration_target_;
  // The waiter: a user-level thread, or an event handler (turn_) on loop_.
  ThreadRef thread_;
  Loop* loop_ = nullptr;
  std::shared_ptr<Turn> turn_;
};

}  // namespace neptune
