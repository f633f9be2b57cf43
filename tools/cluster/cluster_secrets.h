// The secrets of a cluster, made when it is first started: the token that changes at its nodes
// need, and the key that its nodes know each other by.
//
// Threads: pure functions; they read and write files.
// Errors: those of LoadSecret and LoadClusterKeys for files that are there and hold none;
//   UNAVAILABLE one cannot be written.

#pragma once

#include <string>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.h"

namespace search::tools {

// Of the files that the spec, which stands at `spec_path`, names and that do not exist each is made
// with a secret of 256 random bits, for its owner only. Those that it does not name are left alone.
neptune::Status MakeClusterSecrets(const neptune::ClusterSpec& spec, const std::string& spec_path);

// A new key before the ones of the file, of which the first stays; a rolling restart then has the
// nodes take either, and with `finish` only the new one is left, for the second restart.
// Errors: FAILED_PRECONDITION a change that was begun is not finished, or none was begun.
neptune::Status ChangeClusterKey(const std::string& path, bool finish);

}  // namespace search::tools
