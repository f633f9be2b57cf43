// The site of each document of a segment, from the postings of the names of sites: of a document's
// names (index/core/analysis/site.h) the longest, which is the site itself.
//
// Threads: immutable.
// Errors: DATA_LOSS for a damaged dictionary or posting list.
// Limits: two bytes a document; kSiteColumnNamesMax names in a segment.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr size_t kSiteColumnNamesMax = 65'535;

class SiteColumn {
 public:
  static constexpr uint16_t kNone = UINT16_MAX;

  // Reads the postings of all names once, some names per document.
  static neptune::StatusOr<SiteColumn> Read(const Segment& segment);

  // False if the segment has more than kSiteColumnNamesMax names; then nothing else is known.
  bool is_known() const { return is_known_; }
  // Index in names() of each document by ordinal, or kNone for a document without a site.
  std::span<const uint16_t> sites() const { return sites_; }
  std::span<const std::string> names() const { return names_; }

 private:
  bool is_known_ = true;
  std::vector<uint16_t> sites_;
  std::vector<std::string> names_;
};

}  // namespace search::index
