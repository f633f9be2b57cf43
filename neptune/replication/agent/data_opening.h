// The opening of a replica's data beside its log, each sound or not.
//
//   data         log                     result
//   sound        sound                   open
//   damaged      has every write         emptied; the log is executed again
//   damaged      begins after them       closed: the agent repairs them, if it can (`repair`)
//   end before the log begins            the same
//   any          damaged                 the log is forgotten; the data are distrusted until the
//   end after an ordered log             others have answered, or emptied if damaged (`damage`)
//
// A member that cannot repair its data, or whose data end after an unordered log, forgets its log
// too: it begins as one with a new disk.
//
// Data of which no other member has a copy are never emptied, and the only member of a partition
// forgets no log: kDataLoss, and nothing on the disk is changed.
//
// Threads: on a user-level thread, before anything else uses log or data.
// Errors: those of the log and the data; kDataLoss.

#pragma once

#include "neptune/base/status.h"
#include "neptune/replication/agent/replica_data.h"
#include "neptune/replication/agent/replica_log.h"
#include "neptune/replication/protocol/replica_group.h"

namespace neptune {

class DataOpening {
 public:
  // What the data's replica is like.
  struct Traits {
    ReplicaGroup group;
    bool has_data = true;  // false: a witness
    bool is_ordered = true;
    // Whether the replica can take part with its log alone until it has other data.
    bool can_repair = true;
    std::string name;  // "registers/0"
  };
  // The references must outlive this object.
  DataOpening(Traits traits, ReplicaLog& log, ReplicaData& data)
      : traits_(std::move(traits)), log_(log), data_(data) {}

  // Opens the data. REQUIRES: the log is open. `are_damaged`: damage of the data was found before.
  Status Open(bool are_damaged);
  // After Open: kDataLoss, what of the log is lost.
  const Status& damage() const { return damage_; }
  // After Open: why the data must be replaced by another member's; OK: they are open.
  const Status& repair() const { return repair_; }

 private:
  Status OpenData(bool are_damaged);
  // Error: log and data do not fit together, e.g. after a crash during a restore.
  Status CheckFit() const;
  // Begins without the data, for the reason `why`.
  Status BeginWithout(const Status& why, bool are_damaged);
  // Begins without the log.
  Status BeginWithoutLog(const Status& why, bool are_damaged);
  Status ForgetLog(bool are_damaged);
  bool HasLogEveryWrite() const;
  bool OthersHaveData() const;
  Status VerifyAll() const;

  const Traits traits_;
  ReplicaLog& log_;
  ReplicaData& data_;
  Status damage_;
  Status repair_;
};

}  // namespace neptune
