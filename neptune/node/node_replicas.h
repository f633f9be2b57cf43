// The replicas of a node as an operator starts them.
//
//   /replicas/start?service=NAME&partition=N     POST, with the token: this node's data are the partition's from now on
//
// For partitions that nobody can be elected in, because too many of their disks are lost: see the README of
// neptune/replication. /statusz, section "replicas", says what each node has.
//
// Source: [Shen02] 5.2.2 (a manual start after the loss of all replicas).
// Threads: on a user-level thread.
// Errors, as problem documents: 400 no such parameters; 404 the replica is not here; 409 it cannot, with the reason.

#pragma once

#include "neptune/replication/agent/replication.h"
#include "neptune/wire/http/http_message.h"

namespace neptune {

HttpResponse StartReplica(const HttpRequest& request, const Replication& replication);

}  // namespace neptune
