// Splits the change that replaces a whole log into changes small enough to be stored one by one.
//
// Threads: pure function.
// Limits: the payloads of a piece, without its last entry, have less than size_max bytes.

#pragma once

#include <cstddef>
#include <vector>

#include "neptune/replication/log/log_outline.h"

namespace neptune {

// Returns at least one change, to be stored in this order instead of `change`. The restart comes
// first; promise and committed LSN come last, so a log that was only partly stored has promised
// nothing and is fetched again.
// REQUIRES: change.drop_from is 0; the change may drop everything by a restart, not a part.
std::vector<LogChange> PiecesOf(LogChange change, size_t size_max);

}  // namespace neptune
