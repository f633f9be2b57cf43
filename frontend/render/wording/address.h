// The link target of a result and the displayed form of its address.
//
// Threads: pure functions.
// Limits: at most kShownAddressSizeMax bytes of an address are shown.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace search::frontend {

inline constexpr size_t kShownAddressSizeMax = 120;

// "/doc/ID", with the query, which may be running text, as a parameter so that the page can show it
// in its search box and mark its words.
std::string CachedCopyPath(std::string_view doc_id, std::string_view query = {},
                           bool is_plain = false);

// Whether `url` is an http or https address that may become a link.
bool IsWebAddress(std::string_view url);

// The displayed parts of `url` in order: host or package first, then the path, without the scheme.
// In a long address "…" replaces parts of the middle. Never empty.
std::vector<std::string> AddressParts(std::string_view url);

}  // namespace search::frontend
