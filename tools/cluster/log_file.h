// The log of a node: what it writes to its standard error, bounded.
//
//   PATH      the current lines; the node appends to it
//   PATH.1    those before, replaced when PATH has reached its limit
//
// The node keeps its descriptor, so a full file is copied and cut, not renamed; lines that the node
// writes between the two are lost.
// Threads: pure functions; they use the file system.
// Errors: UNAVAILABLE a file cannot be opened, copied or cut.
// Limits: two times the limit given to BoundLog, and what a node writes between two calls.

#pragma once

#include <cstdint>
#include <string>

#include "neptune/base/descriptor.h"
#include "neptune/base/status.h"

namespace search::tools {

// Opens the log for appending, of mode 640: it names clients, and may hold their queries.
neptune::StatusOr<neptune::Descriptor> OpenLog(const std::string& path);

// Moves what the log holds to PATH.1 if it is larger than `size_max`. A missing log is empty.
neptune::Status BoundLog(const std::string& path, uint64_t size_max);

}  // namespace search::tools
