// Known items: pages asked by their own titles.
//
// A page whose title is a query must come first; the reciprocal rank of the page is the measure.
// Titles that another page also has are left out, because no single page is then right.
// Reads files only in ReadTitledPages.
// Threads: pure functions otherwise.
// Errors: those of the stream; a line without a valid document is skipped.
// Limits: kTitledPagesMax pages.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/evaluate/judged_queries.h"

namespace search::tools {

inline constexpr size_t kTitledPagesMax = size_t{1} << 24;

struct TitledPage {
  std::string url;
  std::string title;
  std::string site;
};

neptune::StatusOr<std::vector<TitledPage>> ReadTitledPages(const std::string& documents_path);

// The title as a person would type it: without the number of a section before it ("9.16. JSON
// Functions" becomes "JSON Functions").
std::string TypedTitle(const std::string& title);

struct TitleQueryOptions {
  // At most this many pages of each site, so that a large site does not decide the measure.
  // Default: the interval of the mean is then within .05 for seven sites.
  size_t per_site_count_max = 64;
  // Words of a typed title. Default: one word is often a word of many pages, and few people type
  // more than five.
  size_t word_count_min = 2;
  size_t word_count_max = 5;
  uint64_t seed = 1;
};

struct KnownItems {
  std::vector<JudgedQuery> queries;  // the id is the url, the text the typed title
  JudgmentsByQuery judgments;        // grade 1 for the page itself
};

// The pages of each site are drawn by a hash of seed and url: the same corpus and seed give the
// same queries, and a page more or less changes at most one of them.
KnownItems TitleQueries(const std::vector<TitledPage>& pages, const TitleQueryOptions& options);

}  // namespace search::tools
