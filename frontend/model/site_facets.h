// Counts of all matching documents by site, for a page that was asked for them.
//
// Threads: plain values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace search::frontend {

struct SiteFacet {
  std::string name = {};
  // Matching documents that a filter by this site leaves: those of sites of which this is a name
  // included.
  uint64_t document_count = 0;
  // The question with a filter by the site; empty if it filters by it already, or if no text says
  // so.
  std::string query = {};
  bool is_filter = false;  // the question filters by this site
};

struct SiteFacets {
  // The largest first.
  std::vector<SiteFacet> sites = {};
  // Number of sites that are not in `sites` because there are many.
  size_t left_out_count = 0;
  // Matching documents, those without a site included; a lower bound unless is_exact.
  uint64_t total = 0;
  // False: counts are lower bounds.
  bool is_exact = true;
  // True if every partition of every tier contributed as far as it can.
  bool is_complete = true;
  // A sentence that says why counts are not exact; empty if they are.
  std::string note = {};
};

}  // namespace search::frontend
