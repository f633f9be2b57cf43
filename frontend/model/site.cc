#include "frontend/model/site.h"

#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsNameByte(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_';
}

bool IsPort(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  int port = 0;
  for (char c : text) {
    if (!IsDigit(c)) return false;
    port = port * 10 + (c - '0');
  }
  return port >= 1 && port <= 65535;
}

// Length of the name or address at the beginning of `host`; 0 if there is none.
size_t HostNameSize(std::string_view host) {
  if (host.empty()) return 0;
  size_t size = 0;
  if (host[0] == '[') {
    size = 1;
    while (size < host.size() &&
           (IsHexDigit(host[size]) || host[size] == ':' || host[size] == '.')) {
      ++size;
    }
    return size > 2 && size < host.size() && host[size] == ']' ? size + 1 : 0;
  }
  while (size < host.size() && IsNameByte(host[size])) ++size;
  return size;
}

bool IsHost(std::string_view host) {
  if (host.size() > kHostSizeMax) return false;
  const size_t name_size = HostNameSize(host);
  if (name_size == 0) return false;
  if (name_size == host.size()) return true;
  return host[name_size] == ':' && IsPort(host.substr(name_size + 1));
}

}  // namespace

std::string BaseUrlFromHost(std::string_view scheme, std::string_view host,
                            std::string_view fallback) {
  if (!IsHost(host)) return std::string(fallback);
  return neptune::StrCat(scheme, "://", host);
}

bool IsBaseUrl(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (text.starts_with(scheme)) return IsHost(text.substr(scheme.size()));
  }
  return false;
}

}  // namespace search::frontend
