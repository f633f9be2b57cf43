#include "neptune/wire/http/http_syntax.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace neptune {
namespace {

// Whether a byte may be part of a registered name (RFC 3986 3.2.2).
constexpr std::array<bool, 256> kNameBytes = [] {
  std::array<bool, 256> may_be{};
  for (int c = '0'; c <= '9'; ++c) may_be[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) may_be[c] = may_be[c - 'A' + 'a'] = true;
  for (const char c : std::string_view("-._~%!$&'()*+,;=")) may_be[c] = true;
  return may_be;
}();

bool IsDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isdigit(c); });
}

// The host without its port; false: it is malformed.
bool SplitPort(std::string_view text, std::string_view* host) {
  const size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == text.npos) return false;
  const size_t colon = text.find(':', bracket);
  *host = text.substr(0, colon);
  if (text.starts_with('[') && host->size() != bracket + 1) return false;
  return colon == text.npos || IsDigits(text.substr(colon + 1));
}

bool IsIpv4(std::string_view host) {
  return !host.empty() && absl::ascii_isdigit(host.back()) &&
         std::all_of(host.begin(), host.end(),
                     [](char c) { return absl::ascii_isdigit(c) || c == '.'; });
}

}  // namespace

bool IsHttpHost(std::string_view text) {
  std::string_view host;
  if (!SplitPort(text, &host)) return false;
  if (!host.starts_with('[')) {
    return std::all_of(host.begin(), host.end(),
                       [](char c) { return kNameBytes[static_cast<uint8_t>(c)]; });
  }
  const std::string_view literal = host.substr(1, host.size() - 2);
  return !literal.empty() && std::all_of(literal.begin(), literal.end(), [](char c) {
    return c == ':' || kNameBytes[static_cast<uint8_t>(c)];
  });
}

bool IsAddressOrLocalHost(std::string_view text) {
  std::string_view host;
  if (!IsHttpHost(text) || !SplitPort(text, &host)) return false;
  if (host.starts_with('[') || IsIpv4(host)) return true;
  constexpr std::string_view kLocal = "localhost";
  return host.size() == kLocal.size() &&
         std::equal(host.begin(), host.end(), kLocal.begin(),
                    [](char c, char local) { return absl::ascii_tolower(c) == local; });
}

}  // namespace neptune
