// Calls a partition of a replicated service with Protobuf messages.
//
// Threads: on a user-level thread.
// Errors: those of ReplicaSession::Call; kDataLoss the response is not an Answer.

#pragma once

#include <cstdint>

#include "neptune/replication/client/replica_session.h"

namespace neptune::examples {

struct ReplicasAsked {
  ReplicaSession session;
  ServiceName service;
  uint32_t partition_count;
};

// Calls the partition of `number`.
template <typename Answer, typename Request>
StatusOr<Answer> AskReplicas(ReplicasAsked& asked, uint64_t number, const char* method,
                             AccessMode access, const Request& request,
                             ReplicaReport* report = nullptr) {
  const PartitionId partition(static_cast<uint32_t>(number % asked.partition_count));
  Data response;
  NEPTUNE_RETURN_IF_ERROR(asked.session.Call({asked.service, partition, MethodName(method), access},
                                             Data(request.SerializeAsString()), &response, {},
                                             report));
  NEPTUNE_ASSIGN_OR_RETURN(const Answer* const answer, response.As<Answer>());
  return *answer;
}

}  // namespace neptune::examples
