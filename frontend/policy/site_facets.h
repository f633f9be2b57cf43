// What a page shows of the counts by site.
//
// No I/O, no clock.
// Threads: pure functions.
// Limits: kSiteFacetsMax sites.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/model/answer.h"
#include "frontend/model/site_facets.h"
#include "index/core/query/query.h"
#include "index/tier/facet.pb.h"

namespace search::frontend {

// Larger: longer pages. Default: what fits two lines of chips.
inline constexpr size_t kSiteFacetsMax = 24;

// `counts`: of all partitions that answered; `is_complete`: these are all of both tiers. The count
// of a site is that of the documents which a filter by it leaves, so sites of which it is a name
// count, too. Equal counts by name.
SiteFacets MakeSiteFacets(const index::FacetAnswer& counts, bool is_complete);

// Adds to each site the question that filters by it.
void LinkSites(std::string_view question, SiteFacets* facets);

// Sets SearchResult::site_query of results with further ones of their site.
void LinkMoreOfSites(std::string_view question, std::vector<SearchResult>* results);

// The question with a filter by the site: a text that is read as `parsed`, the question, and the
// filter. Empty if there is none, as for an open quotation mark.
std::string NarrowedToSite(std::string_view question, const index::Query& parsed,
                           std::string_view site);

}  // namespace search::frontend
