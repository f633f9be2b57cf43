// Grammar of single parts of HTTP messages, for readers and writers.
//
// Source: RFC 9110 5.6.2 (tokens), 7.2 (Host); RFC 3986 3.2.2 and 3.2.3 (host and port).
// No I/O, no clock.
// Threads: pure functions.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace neptune {

// Whether a byte may be part of a token: of a method, of a header's name.
inline constexpr std::array<bool, 256> kHttpTokenBytes = [] {
  std::array<bool, 256> is_token{};
  for (int c = '0'; c <= '9'; ++c) is_token[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) is_token[c] = is_token[c - 'A' + 'a'] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) is_token[c] = true;
  return is_token;
}();

// True if the text is a token, which is not empty.
constexpr bool IsHttpToken(std::string_view text) {
  for (const char c : text) {
    if (!kHttpTokenBytes[static_cast<uint8_t>(c)]) return false;
  }
  return !text.empty();
}

// True if the text is the value of a Host header: a name or address, perhaps empty, and perhaps a
// port. Whether the name exists, and what an address in brackets means, is not looked at.
bool IsHttpHost(std::string_view text);

// True if the host of a Host header or of an authority names the machine itself, or is an address:
// no web page can make a browser send it by letting a name of its own point here (DNS rebinding).
bool IsAddressOrLocalHost(std::string_view host);

}  // namespace neptune
