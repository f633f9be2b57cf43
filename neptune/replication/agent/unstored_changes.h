// The changes of a replica's log that are not stored yet, and what waits for them.
//
//   Push ─► waiting, joined to those before ─► Begin ─► being stored ─► End
//
// The protocol continues while a change is stored; changes that come meanwhile are stored together
// after it (group commit), unless one replaces what another has written.
//
// No I/O, no clock.
// Threads: thread-compatible.
// Limits: a batch grows to kBatchSizeMax bytes of payloads, and by one change more.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "neptune/replication/protocol/protocol_actions.h"

namespace neptune {

class UnstoredChanges {
 public:
  static constexpr size_t kBatchSizeMax = 4u << 20;

  // Changes that are stored at once.
  struct Batch {
    uint64_t number = 0;  // of the last one; 0: there is none
    // May be empty. Shared with the call that stores it; no change joins it once it has begun.
    std::shared_ptr<LogChange> change = std::make_shared<LogChange>();
    // Sent once the batch is stored; then another member's data are to be restored.
    std::vector<OutgoingMessage> messages;
    std::optional<MemberIndex> restore_from;
  };

  // Takes all of the actions but those for at once. Actions come in the order of their numbers.
  void Push(ProtocolActions&& actions);
  bool empty() const { return batches_.empty(); }

  // Begins the oldest batch. REQUIRES: not empty; none is being stored.
  const Batch& Begin();
  // Removes and returns the batch that was begun.
  Batch End();

  // The newest change that has this entry; null: none of these.
  const LogChange* Find(Lsn lsn) const;

 private:
  bool MayJoin(const LogChange& change) const;

  bool is_storing_ = false;  // the first batch
  std::deque<Batch> batches_;
  size_t last_size_ = 0;  // bytes of payloads in the last batch
};

}  // namespace neptune
