// The secrets of a cluster, created when it is first started: the token that authorises changes at
// its nodes, and the key by which its nodes authenticate each other.
//
// Threads: pure functions; they read and write files.
// Errors: those of LoadSecret and LoadClusterKeys for existing files without a valid secret;
//   UNAVAILABLE a file cannot be written.

#pragma once

#include <string>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.h"

namespace search::tools {

// Creates each secret file that the spec at `spec_path` names and that does not exist, with 256
// random bits, readable by its owner only.
neptune::Status MakeClusterSecrets(const neptune::ClusterSpec& spec, const std::string& spec_path);

// Puts a new key before the first key of the file and drops any other; after a rolling restart
// nodes accept both. With `finish` only the new key remains, for the second restart.
// Errors: FAILED_PRECONDITION a change that was begun is not finished, or none was begun.
neptune::Status ChangeClusterKey(const std::string& path, bool finish);

}  // namespace search::tools
