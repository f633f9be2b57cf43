#include "neptune/replication/protocol/replica_status.h"

namespace neptune {

std::string_view NameOf(ReplicaRole role) {
  switch (role) {
    case ReplicaRole::kBlank:
      return "blank";
    case ReplicaRole::kRecovering:
      return "recovering";
    case ReplicaRole::kSecondary:
      return "secondary";
    case ReplicaRole::kCandidate:
      return "candidate";
    case ReplicaRole::kPrimary:
      return "primary";
    case ReplicaRole::kPeer:
      return "peer";
  }
  return "unknown";
}

}  // namespace neptune
