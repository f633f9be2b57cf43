// What an answer says about sites if a filter by site finds nothing.
//
// Threads: pure function.
// Errors: DATA_LOSS for a damaged segment.
// Limits: kNamedSitesMax names; those of site_list.h for each segment.

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "index/core/segment/live_documents.h"
#include "index/core/segment/segment_reader.h"
#include "index/tier/index_tier.h"
#include "neptune/base/status.h"

namespace search::index {

// Larger: a document has several names, and each site of a small collection should be among them.
// Smaller: answers of some KiB.
inline constexpr size_t kNamedSitesMax = 192;

struct NamedSegment {
  const Segment* segment;
  const LiveDocuments* live;  // null: all
};

// Sets the answer's sites and found_sites from the segments of one partition. Leaves the answer
// unchanged if there are no filters, or if `stop`, which may be empty, returns true meanwhile: an
// answer without sites claims nothing about them.
neptune::Status NameSites(const std::vector<NamedSegment>& segments,
                          std::vector<std::string> filters, const std::function<bool()>& stop,
                          TierAnswer* answer);

}  // namespace search::index
