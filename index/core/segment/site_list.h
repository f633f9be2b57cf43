// The sites of a segment's documents, by the names that a filter by site knows.
//
// Threads: pure function.
// Errors: DATA_LOSS for a damaged dictionary or posting list.
// Limits: the first kSiteKeysMax names of the dictionary are read. With deleted documents the
//   postings of these names are read too, some names per document.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/segment/live_documents.h"
#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr size_t kSiteKeysMax = 4096;
inline constexpr size_t kSiteKeysPerPoll = 64;

struct SiteCount {
  std::string name;
  uint32_t document_count = 0;  // live ones

  bool operator==(const SiteCount&) const = default;
};

// All names with at least one live document, ascending. A document has several names, as
// `docs.python.org` and `python.org`. `live` may be null: all documents are. `stop` is polled every
// kSiteKeysPerPoll names and may be empty; once it returns true, the names read so far are
// returned.
neptune::StatusOr<std::vector<SiteCount>> ListSites(const Segment& segment,
                                                    const LiveDocuments* live,
                                                    const std::function<bool()>& stop = {});

// The number of live documents with this name.
neptune::StatusOr<uint32_t> CountSite(const Segment& segment, const LiveDocuments* live,
                                      std::string_view name);

}  // namespace search::index
