// Names of a site, as a filter by site knows them: the site itself, its beginnings before '-' and
// '/', and its ends after '.' (index/core/analysis/site.h).
//
// Threads: pure functions.

#pragma once

#include <cstddef>
#include <string_view>

namespace search::frontend {

// True if `site` has `name` as its beginning before a '-' or '/'.
inline bool BeginsSite(std::string_view name, std::string_view site) {
  return site.size() > name.size() && site.starts_with(name) &&
         (site[name.size()] == '-' || site[name.size()] == '/');
}

// True if `site` has `name` as its end after a '.'.
inline bool EndsSite(std::string_view name, std::string_view site) {
  return site.size() > name.size() && site.ends_with(name) &&
         site[site.size() - name.size() - 1] == '.';
}

// Calls `use` with each name of the site, itself first; a name may come twice.
template <typename Use>
void ForEachName(std::string_view site, const Use& use) {
  use(site);
  for (size_t at = 1; at < site.size(); ++at) {
    if (site[at] == '-' || site[at] == '/') use(site.substr(0, at));
  }
  for (size_t at = 0; at + 1 < site.size(); ++at) {
    if (site[at] == '.') use(site.substr(at + 1));
  }
}

}  // namespace search::frontend
