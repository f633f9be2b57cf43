// A small collection of one segment with statistics, from which the fuzz target of statistics
// starts. It is the same on every call, so that bytes written by one process fit the segment built
// by another.
//
// Writes files.
// Threads: pure functions.

#pragma once

#include <string>

#include "neptune/base/status.h"

namespace search::index {

// Builds 300 documents with words of every frequency in all fields.
neptune::Status BuildSampleCollection(const std::string& directory);

}  // namespace search::index
