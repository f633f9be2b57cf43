// Names of sites: one folded form, and the shorter names under which a site is found as well.
//
// Threads: pure functions.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace search::index {

// The folded name: blanks, control characters, quotes and brackets are left out.
std::string FoldSiteName(std::string_view utf8);

// `folded` itself first, then its beginnings before each '-' and '/', then its ends after each '.';
// no empty and no repeated ones.
std::vector<std::string_view> SiteNames(std::string_view folded);

}  // namespace search::index
