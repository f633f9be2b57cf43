// Manual start of a replica by an operator.
//
//   POST /replicas/start?service=NAME&partition=N     needs the token
//
// The node's data become the data of the partition.
//
// Needed for partitions that cannot elect a primary because too many of their disks are lost; see
// the README of neptune/replication. /statusz, section "replicas", shows the data of each node.
//
// Source: [Shen02] 5.2.2 (a manual start after the loss of all replicas).
// Threads: runs on a user-level thread.
// Errors: as problem documents: 400 missing parameters; 404 the replica is not on this node; 409
//   the replica cannot be started, with the reason.

#pragma once

#include "neptune/replication/agent/replication.h"
#include "neptune/wire/http/http_message.h"

namespace neptune {

HttpResponse StartReplica(const HttpRequest& request, const Replication& replication);

}  // namespace neptune
