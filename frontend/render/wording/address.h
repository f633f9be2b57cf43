// Where a result leads and how its address reads.
//
// Threads: pure functions.
// Limits: kShownAddressSizeMax bytes are shown of an address.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace search::frontend {

inline constexpr size_t kShownAddressSizeMax = 120;

// "/doc/ID", with the query that led there so that the page can keep it.
std::string CachedCopyPath(std::string_view doc_id, std::string_view query = {});

// Whether `url` is an http or https address that may become a link.
bool IsWebAddress(std::string_view url);

// The parts of `url` to be read one after another: host or package first, then the path; the scheme
// is left out, and in a long address parts of the middle, for which "…" stands. Never empty.
std::vector<std::string> AddressParts(std::string_view url);

}  // namespace search::frontend
