// Names of sites: the folded form, and the shorter names under which a site can be found.
//
// Threads: pure functions.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace search::index {

// The folded name, without blanks, control characters, quotes and brackets.
std::string FoldSiteName(std::string_view utf8);

// `folded` itself first, then its prefixes before each '-' and '/', then its suffixes after each
// '.'; neither empty nor repeated names.
std::vector<std::string_view> SiteNames(std::string_view folded);

}  // namespace search::index
