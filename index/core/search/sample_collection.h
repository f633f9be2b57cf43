// A small collection of one segment with statistics, the seed of the statistics fuzz target. Equal
// on every call, so that bytes made in one process fit the segment made in another.
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
