// The day of each document of a segment, from the postings of the days (document_fields.h).
//
// Threads: immutable.
// Errors: DATA_LOSS for a damaged dictionary or posting list.
// Units: days since 0001-01-01, which is day 1; 0: the document has no date.
// Limits: four bytes a document; nothing if no document has a date.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

class DateColumn {
 public:
  // Reads the postings of all days once.
  static neptune::StatusOr<DateColumn> Read(const Segment& segment);

  uint32_t day(uint32_t ordinal) const { return days_.empty() ? 0 : days_[ordinal]; }
  size_t size_bytes() const { return days_.size() * sizeof(uint32_t); }

 private:
  std::vector<uint32_t> days_;  // by ordinal
};

}  // namespace search::index
