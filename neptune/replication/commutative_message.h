// What the replicas of a partition of consistency level 1 tell each other: what they have, and what the other lacks.
//
// Source: [Shen02] 5.2.1. Threads: immutable values.
// Errors: kDataLoss the bytes are no message.
// Limits: kMessageEntryCountMax entries a message; kLogPayloadSizeMax bytes an entry; kOriginCountMax origins.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/replication/log_entry.h"
#include "neptune/replication/origin_index.h"

namespace neptune {

struct CommutativeMessage {
  // Of the starts of both processes. 0: not known; such a message asks for another.
  uint64_t from_incarnation = 0;
  uint64_t to_incarnation = 0;
  // Counts the messages of one start: an older one tells nothing of what the sender has.
  uint64_t number = 0;
  // The sender has all that was ever dropped anywhere.
  bool is_ready = false;
  // The receiver shall send all that it has, of all origins.
  bool wants_all = false;
  // The receiver lacks what the sender has dropped.
  bool is_behind = false;
  // What the sender has durably.
  OriginCounts has;
  // Commutative writes; those of each origin in their order. Their lsn is that of the sender's log.
  std::vector<LogEntry> entries;
};

std::string EncodeCommutativeMessage(const CommutativeMessage& message);
StatusOr<CommutativeMessage> DecodeCommutativeMessage(std::string_view bytes);

}  // namespace neptune
