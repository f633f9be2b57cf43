#include "frontend/policy/site_facets.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "frontend/policy/site_names.h"
#include "index/core/analysis/analyzer.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using index::FacetAnswer;
using index::FacetValue;
using index::QueryNode;
using neptune::StrAppend;
using neptune::StrCat;

std::string NoteOf(const FacetAnswer& counts, bool is_complete) {
  std::string note;
  const auto say = [&note](const std::string& text) {
    StrAppend(&note, note.empty() ? "" : " ", text);
  };
  if (!is_complete) say("Parts of the index did not answer in time; their documents are missing.");
  if (!counts.is_complete()) say("Counting ended early; there are at least as many documents.");
  for (const std::string& name : counts.cannot_count()) {
    say(StrCat("The index engine ", name, " does not count by site."));
  }
  if (counts.left_out_count_max() > 0) {
    say(StrCat("Any site can have up to ", counts.left_out_count_max(), " more."));
  }
  return note;
}

// The question's tree and the filter.
index::Query WithFilter(const index::Query& parsed, std::string_view site) {
  QueryNode filter;
  filter.kind = QueryNode::Kind::kSite;
  filter.term = site;
  index::Query narrowed;
  QueryNode& root = narrowed.root;
  root.kind = QueryNode::Kind::kAnd;
  if (parsed.root.kind == QueryNode::Kind::kAnd) {
    root = parsed.root;
  } else {
    root.children.push_back(parsed.root);
  }
  const auto first_exclusion =
      std::find_if(root.children.begin(), root.children.end(),
                   [](const QueryNode& child) { return child.kind == QueryNode::Kind::kNot; });
  root.children.insert(first_exclusion, std::move(filter));
  return narrowed;
}

bool IsBare(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/' ||
           c == '_' || static_cast<uint8_t>(c) >= 0x80;
  });
}

}  // namespace

SiteFacets MakeSiteFacets(const FacetAnswer& counts, bool is_complete) {
  SiteFacets facets;
  facets.total = counts.total();
  facets.note = NoteOf(counts, is_complete);
  facets.is_exact = facets.note.empty();
  facets.is_complete = is_complete && counts.is_complete();
  std::map<std::string_view, uint64_t> totals;
  for (const FacetValue& site : counts.values()) totals[site.name()] = 0;
  for (const FacetValue& site : counts.values()) {
    std::set<std::string_view> names;
    ForEachName(site.name(), [&](std::string_view name) { names.insert(name); });
    for (const std::string_view name : names) {
      const auto total = totals.find(name);
      if (total != totals.end()) total->second += site.document_count();
    }
  }
  for (const auto& [name, count] : totals) {
    facets.sites.push_back({.name = std::string(name), .document_count = count});
  }
  std::stable_sort(facets.sites.begin(), facets.sites.end(), [](const auto& a, const auto& b) {
    return a.document_count > b.document_count;
  });
  if (facets.sites.size() > kSiteFacetsMax) {
    facets.left_out_count = facets.sites.size() - kSiteFacetsMax;
    facets.sites.resize(kSiteFacetsMax);
  }
  return facets;
}

void LinkSites(std::string_view question, SiteFacets* facets) {
  const auto parsed = index::ParseQuestion(question);
  if (!parsed.ok()) return;
  const std::vector<std::string> filters = index::SiteFilters(*parsed);
  for (SiteFacet& site : facets->sites) {
    site.is_filter = std::find(filters.begin(), filters.end(), site.name) != filters.end();
    if (!site.is_filter) site.query = NarrowedToSite(question, *parsed, site.name);
  }
}

void LinkMoreOfSites(std::string_view question, std::vector<SearchResult>* results) {
  const bool has_more = std::any_of(results->begin(), results->end(),
                                    [](const auto& result) { return result.more_of_site > 0; });
  if (!has_more) return;
  const auto parsed = index::ParseQuestion(question);
  if (!parsed.ok()) return;
  for (SearchResult& result : *results) {
    if (result.more_of_site == 0) continue;
    result.site_query = NarrowedToSite(question, *parsed, index::Analyzer::FoldSite(result.site));
  }
}

std::string NarrowedToSite(std::string_view question, const index::Query& parsed,
                           std::string_view site) {
  if (site.empty() || parsed.empty() || index::Analyzer::FoldSite(site) != site) return "";
  const std::string_view mark = IsBare(site) ? "" : "\"";
  const std::string filter = StrCat("site:", mark, site, mark);
  const index::Query wanted = WithFilter(parsed, site);
  for (std::string& text : std::vector<std::string>{StrCat(question, " ", filter),
                                                    StrCat("(", question, ") ", filter)}) {
    const auto read = index::ParseQuestion(text);
    if (read.ok() && *read == wanted) return std::move(text);
  }
  return "";
}

}  // namespace search::frontend
