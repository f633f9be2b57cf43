// Reads the bytes of open files again, a part at a time, and compares them with the checksums that
// they were opened with: finds what has decayed in memory or on the disk since.
//
//   std::function<StatusOr<size_t>(size_t)> check = CheckOf({&segment, &statistics});
//   while (*check(256 << 10) > 0) { ... }   // a pass; between the parts anything may happen
//
// Threads: a check is thread-compatible. Searches may run meanwhile.
// Errors: DATA_LOSS, which is also noted with the file (SectionFile::CheckSound).
// Limits: one hash state; reads what it is asked to read, and touches each page once.

#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "index/core/segment/section_file.h"
#include "neptune/base/status.h"

namespace search::index {

// Reads about `size` bytes and returns how many it read; 0 once it has read all.
using PartCheck = std::function<neptune::StatusOr<size_t>(size_t size)>;

// The files must live as long as the check. Null ones are left out.
PartCheck CheckOf(std::vector<const SectionFile*> files);

}  // namespace search::index
