// What must hold of a cluster under faults: checked after every event, after every call, and at the
// end.
//
//   after every event   each call ends by its deadline
//   each 10 ms          no queue over its bound, no work without a waiting caller
//   each 100 ms         nodes undisturbed for six periods know each other and offer their
//                       partitions; nodes that are away for six periods, or left, are known to
//                       no other node
//   after every call    the answer is of this call; an acknowledged write was done once; a call
//                       that had an undisturbed replica and time to find it succeeded; leaving
//                       costs none
//   at the end          every node knows every other, offers everything, and is idle
//
// Threads: the simulation's thread.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "neptune/testing/simulated_cluster.h"
#include "tests/chaos/chaos_modules.h"
#include "tests/chaos/chaos_run.h"
#include "tests/chaos/ledger.h"

namespace neptune::chaos {

class Checks {
 public:
  // All outlive the checks.
  Checks(SimulatedCluster& cluster, ChaosState& state, const Ledger& ledger,
         std::vector<std::string> nodes);

  void AfterEvent();
  // Checks the register of a write, which a server has just done.
  void AfterWrite(const CallRecord& call);
  void AfterCall(const CallRecord& call);
  void AtEnd();

  // How often each check applied.
  const Outcome& counts() const { return counts_; }

 private:
  void CallsEndInTime();
  void QueuesAreBounded();
  void WorkIsWaitedFor();
  void NoteStalls();
  void ViewsAreRight();
  void ViewIsRight(const std::string& observer, const std::string& node);
  void MustKnow(const std::string& observer, const std::string& node);
  void MustHaveForgotten(const std::string& observer, const std::string& node);
  static TimePoint MayEndAt(const CallRecord& call);
  bool WaitsForItsPlace(const CallRecord& call) const;
  bool NoPlaceWasFree(const std::string& host, TimePoint since) const;
  void AnswerIsRight(const CallRecord& call);
  bool MustSucceed(const CallRecord& call) const;
  bool MustFindAReplica(const CallRecord& call) const;
  bool MustBeServedThere(const CallRecord& call) const;
  bool MayBeRefused(const CallRecord& call) const;

  std::vector<std::string> ReplicasOf(uint32_t partition) const;
  bool IsServer(const std::string& node) const { return node[0] == 's'; }
  uint32_t PartitionOf(const std::string& server) const {
    return static_cast<uint32_t>(server[1] - '0') % kPartitionCount;
  }
  void Wrong(const std::string& check, const std::string& what) { state_.wrong(check, what); }

  SimulatedCluster& cluster_;
  Simulator& simulator_;
  ChaosState& state_;
  const Ledger& ledger_;
  const std::vector<std::string> nodes_;
  std::map<std::string, TimePoint> stalled_at_;  // by server, when it was last seen stalled
  TimePoint next_often_{};
  TimePoint next_seldom_{};
  Outcome counts_;
};

}  // namespace neptune::chaos
