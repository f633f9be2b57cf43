// Messages between the replicas of a partition at consistency level `write_anywhere`: the writes
// that the sender has, and entries that the receiver lacks.
//
// Source: [Shen02] 5.2.1.
// Threads: immutable values.
// Errors: kDataLoss the bytes are not a message.
// Limits: kMessageEntryCountMax entries per message; kLogPayloadSizeMax bytes per entry;
//   kOriginCountMax origins.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/replication/log/log_entry.h"
#include "neptune/replication/log/origin_index.h"

namespace neptune {

struct CommutativeMessage {
  // Incarnations of sender and receiver; they change with each start of the process. 0: not known;
  // such a message asks for a reply.
  uint64_t from_incarnation = 0;
  uint64_t to_incarnation = 0;
  // Number of the message within the sender's incarnation; the counts of an older one are ignored.
  uint64_t number = 0;
  // The sender has every entry that any member has ever dropped.
  bool is_ready = false;
  // Asks the receiver to send all that it has, of all origins.
  bool wants_all = false;
  // The receiver lacks entries that the sender has dropped.
  bool is_behind = false;
  // The writes that the sender has stored durably.
  OriginCounts has;
  // Commutative writes, those of each origin in order. Their lsn is that of the sender's log.
  std::vector<LogEntry> entries;
};

std::string EncodeCommutativeMessage(const CommutativeMessage& message);
StatusOr<CommutativeMessage> DecodeCommutativeMessage(std::string_view bytes);

}  // namespace neptune
