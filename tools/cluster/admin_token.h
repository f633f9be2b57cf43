// The token that changes at a cluster's nodes need: made when the cluster is first started.
//
// Source: none. Layer: tools. Threads: pure function; it reads and writes a file.
// Errors: those of LoadSecret for a file that is there and holds none; UNAVAILABLE it cannot be written.

#pragma once

#include <string>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.h"

namespace search::tools {

// If the spec, which stands at `spec_path`, names a token file that does not exist, it is made with a secret of 256
// random bits, for its owner only. A spec without one is left alone.
neptune::Status MakeAdminToken(const neptune::ClusterSpec& spec, const std::string& spec_path);

}  // namespace search::tools
