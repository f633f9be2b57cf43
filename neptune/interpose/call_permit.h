// An interposed call's stay in the capsule that its descriptor belongs to.
//
//   peer of a connection, path of a file  ──► CapsulesInUse() finds the capsule
//   refused, bypassed, ended by a policy  ──► ECONNREFUSED of a connection, EAGAIN of a file
//   refused or bypassed, before connect   ──► the peer of the capsule that it migrates to, else ECONNREFUSED
//   the capsule's time is over            ──► ETIMEDOUT
//
// What nobody connected is no dependency: descriptors that were accepted, pipes and events wait in no capsule.
//
// Source: [Chu05] V.B (steps of a migration), V.C (a file handle is an index to the table of capsules).
// Departs from source: the capsule is found at the call, since capsules come and go.
// Threads: UseCapsules and CapsulesInUse any; a stay belongs to one user-level thread.

#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "neptune/capsule/capsule_permit.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/capsule/main_pool.h"

namespace neptune::interpose {

// Interposed calls wait in these capsules from now on; null: in none. It must outlive every user-level thread.
// The last one told counts, for all nodes of the process.
void UseCapsules(CapsuleStack* capsules);
CapsuleStack* CapsulesInUse();

// What calls on a descriptor depend on. Immutable.
struct Dependency {
  uint32_t address = 0;  // host byte order; 0: no IPv4 peer
  uint16_t port = 0;
  std::string host;  // that the address was resolved from, if it was
  std::string path;  // of a file; empty: a peer

  BlockingOperation Operation() const;
};

// A peer that is connected to, or that a message goes to.
std::shared_ptr<const Dependency> DependencyOn(const sockaddr* address, socklen_t size);

// A connection asks before it is begun, although it would be made at once: a program that is refused here can do what it
// does when a peer is gone. Nobody enters a capsule yet. What to connect to: `wanted`; or, if its capsule lets nobody in
// and sends calls to another one, the peer of that one, if its rules name exactly one. Null, errno ECONNREFUSED: nothing.
std::shared_ptr<const Dependency> ChoosePeer(std::shared_ptr<const Dependency> wanted);

// A request that waits here is outside of its service's main pool meanwhile.
class CallPermit {
 public:
  CallPermit() = default;
  // Leaves: done, or as it failed. Parks until the request has its place in the main pool again.
  ~CallPermit();
  CallPermit(const CallPermit&) = delete;
  CallPermit& operator=(const CallPermit&) = delete;

  // Before the first wait of a call; parks while others have their turn. False: errno says why it may not wait. What
  // depends on nothing may. `deadline` becomes earlier if the capsule says so.
  bool Enter(const Dependency* dependency, uint64_t caller, TimePoint* deadline);
  // The wait has ended at the deadline: the errno of it, where `own` is what the call's own time limit would give.
  int TimeOut(int own);
  void Cancel() { outcome_ = CapsuleOutcome::kCancelled; }
  void Succeed() { outcome_ = CapsuleOutcome::kDone; }

 private:
  std::optional<OutsideMainPool> outside_;
  std::optional<CapsulePermit> visit_;
  CapsuleOutcome outcome_ = CapsuleOutcome::kFailed;
};

// The errno of a call that `status` of CapsulePermit::Enter or RunOnDevice ended, on a file or not.
int ErrnoOf(const Status& status, bool on_file);

}  // namespace neptune::interpose
