// What to say if nothing was found because a filter names a site that does not exist.
//
// Threads: pure function.
// Limits: the kNotedSitesMax largest sites are named, each by one of its names;
//   at most kUnknownSitesMax that do not exist.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "index/tier/tier.pb.h"

namespace search::frontend {

inline constexpr size_t kNotedSitesMax = 20;
inline constexpr size_t kUnknownSitesMax = 8;

// A sentence that names those of `filters` that no partition knows, and the sites that exist. Empty
// if something was found, all exist, or the index names no sites. `hits` is the merge of complete
// answers of all tiers.
std::string SiteNote(const std::vector<std::string>& filters, const index::TierAnswer& hits);

}  // namespace search::frontend
