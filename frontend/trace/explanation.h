// Explains in English sentences why a search was slow, partial, refused or cut.
//
// Threads: a pure function.

#pragma once

#include <string>
#include <vector>

#include "frontend/trace/search_trace.h"

namespace search::frontend {

// Most important sentence first; never empty: a fast and complete answer is described as such.
std::vector<std::string> Explain(const SearchTrace& trace);

}  // namespace search::frontend
