// Whether a node may start with its spec, at its address and as its user: what one would regret
// later is refused at the start, unless the spec or a flag says that it is wanted.
//
//   at an address of another machine's reach    a cluster key, or trust_network: true
//                                               a user other than root, or --allow_root
//   on loopback                                 anything; root is warned of
//
// All who reach a node without a key may call its services and announce nodes of their own; see
// neptune/security.
// Threads: pure functions.
// Errors: kFailedPrecondition with what to write and where.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.pb.h"

namespace neptune {

// True for 127.0.0.0/8: datagrams and connections of other machines do not arrive there.
bool StaysOnThisMachine(uint32_t address);

struct StartSurroundings {
  // The node's address, at which it listens and which it announces.
  uint32_t address = 0;
  bool is_root = false;
  bool allows_root = false;
};

// REQUIRES: the spec is complete.
Status CheckStart(const ClusterSpec& spec, const StartSurroundings& surroundings);

// What the log should say at the start of a node that CheckStart accepts.
std::vector<std::string> StartWarnings(const ClusterSpec& spec,
                                       const StartSurroundings& surroundings);

}  // namespace neptune
