#include "neptune/replication/protocol/protocol_message.h"

#include <utility>

namespace neptune {

std::string EncodeProtocolMessage(const ProtocolMessage& message) {
  if (const auto* const ordered = std::get_if<ReplicaMessage>(&message)) {
    return EncodeReplicaMessage(*ordered);
  }
  return EncodeCommutativeMessage(std::get<CommutativeMessage>(message));
}

StatusOr<ProtocolMessage> DecodeProtocolMessage(ConsistencyLevel level, std::string_view bytes) {
  if (level == ConsistencyLevel::kWriteAnywhere) {
    NEPTUNE_ASSIGN_OR_RETURN(CommutativeMessage message, DecodeCommutativeMessage(bytes));
    return ProtocolMessage(std::move(message));
  }
  NEPTUNE_ASSIGN_OR_RETURN(ReplicaMessage message, DecodeReplicaMessage(bytes));
  return ProtocolMessage(std::move(message));
}

}  // namespace neptune
