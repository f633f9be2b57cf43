// Size and counts of a finished segment.
//
// Threads: a plain value.

#pragma once

#include <cstdint>

namespace search::index {

struct SegmentSummary {
  uint64_t document_count = 0;
  uint64_t term_count = 0;
  uint64_t posting_count = 0;
  uint64_t token_count = 0;
  uint64_t size = 0;  // size of the file in bytes
  uint32_t run_count = 0;
};

}  // namespace search::index
