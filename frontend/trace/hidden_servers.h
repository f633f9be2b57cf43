// Hides which servers answered, for traces that are shown to clients other than operators.
//
// Threads: a pure function.

#pragma once

#include "frontend/model/answer.h"

namespace search::frontend {

// Replaces the names of the servers of all reduction trees by "server 1", "server 2", in the order
// of their first appearance; a server keeps its number in all trees.
void HideServers(SearchAnswer* answer);

}  // namespace search::frontend
