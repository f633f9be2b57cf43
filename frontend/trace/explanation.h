// Why a search was slow, partial, refused or cut, in sentences for people.
//
// Threads: a pure function.

#pragma once

#include <string>
#include <vector>

#include "frontend/trace/search_trace.h"

namespace search::frontend {

// The most important first; never empty: of a quick and complete answer it says that.
std::vector<std::string> Explain(const SearchTrace& trace);

}  // namespace search::frontend
