// What pages say about the site itself: its name and the address its absolute links begin with.
//
// Threads: immutable values, pure functions.
// Limits: kHostSizeMax bytes of a Host header.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace search::frontend {

inline constexpr size_t kHostSizeMax = 261;  // a full DNS name, a colon and a port

struct Site {
  std::string name = "Neptune Search";
  // No slash at the end: "http://127.0.0.1:8080".
  std::string base_url = "http://127.0.0.1:8080";
  // Documents in the collection, shown on the home page; 0 is not shown.
  uint64_t document_count = 0;
};

// `scheme` ("http", "https": what the connection speaks) + "://" + `host` if that is a well-formed Host header (name,
// IPv4 or bracketed IPv6 address, optional port), else `fallback`. The header is the client's word: it must never reach
// a page unchecked, and no header says what a proxy speaks.
std::string BaseUrlFromHost(std::string_view scheme, std::string_view host,
                            std::string_view fallback);

// Whether it is what Site::base_url may be: "http://" or "https://" and a well-formed host, nothing behind.
bool IsBaseUrl(std::string_view text);

}  // namespace search::frontend
