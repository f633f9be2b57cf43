// A log that is taken whole, cut into changes that are small enough to be stored one by one.
//
// Threads: pure function.
// Limits: a piece has less than size_max bytes of requests before its last entry.

#pragma once

#include <cstddef>
#include <vector>

#include "neptune/replication/log_outline.h"

namespace neptune {

// To be stored in this order instead of the change; at least one. The restart comes first. What the change promises and
// knows to be committed comes last: a log of which a part is stored has promised nothing, and is taken again.
// REQUIRES: the change drops nothing but all.
std::vector<LogChange> PiecesOf(LogChange change, size_t size_max);

}  // namespace neptune
