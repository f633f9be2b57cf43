// A message between replicas at any consistency level.
//
// Threads: immutable values.
// Errors: kDataLoss the bytes are not a message of the level.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "neptune/base/status.h"
#include "neptune/replication/protocol/commutative_message.h"
#include "neptune/replication/protocol/replica_message.h"

namespace neptune {

// Consistency level of a service; [Shen02] 5.2.1.
enum class ConsistencyLevel : uint8_t {
  kWriteAnywhere = 1,
  kOrderedWrites = 2,
  kStalenessBounded = 3,
};

using ProtocolMessage = std::variant<ReplicaMessage, CommutativeMessage>;
std::string EncodeProtocolMessage(const ProtocolMessage& message);
StatusOr<ProtocolMessage> DecodeProtocolMessage(ConsistencyLevel level, std::string_view bytes);

}  // namespace neptune
