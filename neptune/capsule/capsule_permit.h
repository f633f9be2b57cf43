// One blocking operation's stay in its capsule.
//
//   CapsulePermit visit;
//   NEPTUNE_RETURN_IF_ERROR(visit.Enter(stack, NetworkOperation{.address = a, .port = p}, {.deadline = deadline}));
//   ... do it, waiting until visit.deadline() at the latest, parked in place ...
//   visit.Leave(ok ? CapsuleOutcome::kDone : CapsuleOutcome::kFailed);
//
// A caller outside of `neptune/node`, such as a library that interposes libc, makes one CapsuleStack for its process
// and gives it helper threads (CapsuleStackOptions), loads a capsule file into it (LoadCapsuleFile, Load), and makes a
// visit around each operation that would block, on the user-level thread that makes it. What the operation is about it
// says as far as it knows: address and port of the peer, the name that the address was resolved from, the path of a
// file. An operation on a path goes through RunOnDevice instead. An operation that turns out not to block needs no
// visit; leaving one out costs nothing but its numbers.
//
// What Enter's status means to a foreign caller: RESOURCE_EXHAUSTED refused at a bound, UNAVAILABLE bypassed, ABORTED
// terminated by the policy, DEADLINE_EXCEEDED its turn did not come in time, CANCELLED it gave up or the scheduler
// stops. Each names the capsule. EAGAIN, ECONNREFUSED or EHOSTUNREACH, ECANCELED, ETIMEDOUT are their usual errno.
//
// A policy, or a capsule that refuses, may have sent the visit to another capsule, as that of a replica: migrated()
// is then true, and who can choose its peer anew chooses one that capsule() takes.
//
// Source: [Chu05] IV.A (migration of a thread into a capsule and back), V.B.
// Departs from source: the thread stays on its kernel thread; what migrates is its place.
// Threads: a visit belongs to one loop. Enter parks and so needs a user-level thread; Begin does not, and serves
//   event handlers whose calls hold a place though no thread waits.
// Limits: kMigrationCountMax capsules a visit.

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

// Whether the error, or the one that it was annotated from, on this node or another, says that a capsule bypasses what
// was asked for.
bool SaysBypassed(const Status& status);

struct VisitOptions {
  // Of the operation itself; the capsule may shorten it.
  TimePoint deadline = kNever;
  // Who calls, for round robin: any number that tells callers apart.
  uint64_t caller = 0;
  // For priority.
  std::string_view service_class{};
  // Whether it may go to another capsule: not where the peer is fixed, as on a connection. A policy that would send it
  // away lets it go on.
  bool may_migrate = true;
  // Asked after each wake whether waiting has become pointless; who cancels wakes the thread. Absent: never.
  std::function<bool()> given_up{};
};

class CapsulePermit {
 public:
  CapsulePermit() = default;
  // Leaves as cancelled if it is inside.
  ~CapsulePermit();
  CapsulePermit(const CapsulePermit&) = delete;
  CapsulePermit& operator=(const CapsulePermit&) = delete;

  // Finds the operation's capsule and enters it; parks while others have their turn. Once OK it is inside, until
  // Leave. An operation that no capsule takes is inside of none, which is OK. REQUIRES: it is not inside.
  Status Enter(CapsuleStack& stack, const BlockingOperation& operation,
               const VisitOptions& options = {});

  // The same for event handlers: what Enter would return, or nullopt if the visit has to wait. `on_turn` is then
  // called once when the turn has come, on the loop of this call, unless the visit was left before. The caller
  // watches the deadline itself: Leave ends the waiting too. A policy's delay is part of it.
  std::optional<Status> Begin(CapsuleStack& stack, const BlockingOperation& operation,
                              const VisitOptions& options, Task on_turn);

  // The operation is over. Idempotent.
  void Leave(CapsuleOutcome outcome);

  // A resident of capsule().
  bool inside() const { return place_ != Capsule::Place::kOutside; }
  // The capsule it is or was in last, or that turned it away; null: none.
  const Capsule* capsule() const { return capsule_.get(); }
  // When to stop waiting for the operation: the caller's own deadline, or the capsule's.
  TimePoint deadline() const { return deadline_; }
  // The capsule's deadline comes before the caller's own.
  bool limited_by_capsule() const { return limited_by_capsule_; }
  bool migrated() const { return migrated_; }
  // "capsule 'NAME'", for messages.
  std::string Where() const;

 private:
  friend class Capsule;
  friend class DeviceCall;
  // A turn that an event handler waits for; the loop's own.
  struct Turn {
    Task on_turn;
    bool awaited = true;
  };

  // Asks one capsule after the other until one has decided: OK it is a resident or belongs to none.
  Status Arrive(CapsuleStack& stack, const BlockingOperation& operation,
                const VisitOptions& options);
  Status Refusal(Capsule::Arrival arrival) const;
  void EndDelay(TimePoint now);
  Status AwaitTurn(const VisitOptions& options);
  void AwaitEndOfDelay();
  static void TellTurn(const std::shared_ptr<Turn>& turn);
  void End(CapsuleOutcome outcome, bool left_behind);
  // For the capsule, before others may see that it waits; and to tell it of its turn.
  void PrepareToWait();
  absl::AnyInvocable<void()> ReleaseWaker();

  std::shared_ptr<Capsule> capsule_;
  CapsuleCall call_;
  std::atomic<Capsule::Place> place_{Capsule::Place::kOutside};
  bool limited_by_capsule_ = false;
  bool migrated_ = false;
  // Set by the capsule.
  CapsuleControl::Verdict admitted_ = CapsuleControl::Verdict::kEnter;
  TimePoint entered_at_{};
  TimePoint not_before_{};
  TimePoint deadline_ = kNever;
  uint64_t id_ = 0;
  std::string migration_target_;
  // Who waits for the turn: a thread, or an event handler.
  ThreadRef thread_;
  Loop* loop_ = nullptr;
  std::shared_ptr<Turn> turn_;
};

}  // namespace neptune
