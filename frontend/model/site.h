// Properties of the site that pages show: its name and the base address of absolute links.
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

// Returns `scheme` ("http" or "https", of the connection) + "://" + `host` if `host` is a
// well-formed Host header (name, IPv4 or bracketed IPv6 address, optional port), else `fallback`.
// The header is client input and must never reach a page unchecked. No header is trusted for a
// proxy's scheme.
std::string BaseUrlFromHost(std::string_view scheme, std::string_view host,
                            std::string_view fallback);

// True if `text` is a valid Site::base_url: "http://" or "https://", a well-formed host, nothing
// more.
bool IsBaseUrl(std::string_view text);

}  // namespace search::frontend
