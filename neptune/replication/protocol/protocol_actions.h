// What a replica must do after a step of its protocol: send, store, restore.
//
//   1. send at_once   2. store the change and report ChangeStored with its number
//   3. send after_stored   4. restore another member's data
//
// Threads: immutable values.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "neptune/replication/log/log_outline.h"
#include "neptune/replication/protocol/member_actions.h"
#include "neptune/replication/protocol/protocol_message.h"

namespace neptune {

// A contiguous range of log entries; empty if last < first.
struct LogRun {
  Lsn first = 1;
  Lsn last = 0;
};

struct OutgoingMessage {
  MemberIndex to = 0;
  ProtocolMessage message;
  // Entries to include, in this order: the longest prefix that fits into a message.
  std::deque<LogRun> entries;
  // Send the entries that do not fit in further copies of this message.
  bool is_repeated = false;
};

using ProtocolActions = MemberActions<OutgoingMessage>;

}  // namespace neptune
