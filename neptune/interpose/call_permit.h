// Permit of an interposed call in the capsule of its descriptor.
//
//   peer of a connection, path of a file  ──► CapsulesInUse() finds the capsule
//   refused, bypassed, ended by a policy  ──► connection: ECONNREFUSED, file: EAGAIN
//   refused or bypassed before connect    ──► peer of the capsule in migrate_to, else ECONNREFUSED
//   the capsule's timeout expires         ──► ETIMEDOUT
//
// Only connected peers and files are dependencies: accepted descriptors, pipes and events wait in
// no capsule.
//
// Source: [Chu05] V.B (steps of a migration), V.C (a file handle is an index to the table of
//   capsules).
// Departs from source: the capsule is looked up at each call, since capsules come and go.
// Threads: UseCapsules and CapsulesInUse on any thread; a permit belongs to one user-level thread.

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

// Sets the capsules of interposed calls, for all nodes of the process; null: none. They must
// outlive every user-level thread. The last call wins.
void UseCapsules(CapsuleStack* capsules);
CapsuleStack* CapsulesInUse();

// The dependency of calls on a descriptor. Immutable.
struct Dependency {
  uint32_t address = 0;  // host byte order; 0: no IPv4 peer
  uint16_t port = 0;
  std::string host;  // name that the address was resolved from, if any
  std::string path;  // path of a file; empty: a peer

  BlockingOperation Operation() const;
};

// Dependency on the peer of a connection or message.
std::shared_ptr<const Dependency> DependencyOn(const sockaddr* address, socklen_t size);

// Admission check before a connection is begun, even if it would not block: a refused program can
// then act as if the peer were down. No capsule is entered. Returns the peer to connect to:
// `wanted`, or, if its capsule admits nothing and has migrate_to, the peer of that capsule if its
// rules name exactly one. Null: refused, errno is ECONNREFUSED.
std::shared_ptr<const Dependency> ChoosePeer(std::shared_ptr<const Dependency> wanted);

// While a request waits here it gives back its place in its service's main pool.
class CallPermit {
 public:
  CallPermit() = default;
  // Leaves the capsule with the recorded outcome, failed by default. Parks until the request has
  // its place in the main pool again.
  ~CallPermit();
  CallPermit(const CallPermit&) = delete;
  CallPermit& operator=(const CallPermit&) = delete;

  // Enters the capsule before the first wait of a call; parks until its turn. False: errno has the
  // reason. True without a capsule if `dependency` is null. The capsule may shorten `deadline`.
  bool Enter(const Dependency* dependency, uint64_t caller, TimePoint* deadline);
  // Records a timeout and returns its errno: ETIMEDOUT for the capsule's limit, `own` for the
  // call's.
  int TimeOut(int own);
  void Cancel() { outcome_ = CapsuleOutcome::kCancelled; }
  void Succeed() { outcome_ = CapsuleOutcome::kDone; }

 private:
  std::optional<OutsideMainPool> outside_;
  std::optional<CapsulePermit> visit_;
  CapsuleOutcome outcome_ = CapsuleOutcome::kFailed;
};

// Converts a status of CapsulePermit::Enter or RunOnDevice to the errno of the call.
int ErrnoOf(const Status& status, bool on_file);

}  // namespace neptune::interpose
