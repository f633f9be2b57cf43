#include "tools/corpus/link_resolver.h"

#include <cctype>
#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string DecodePercent(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool code = text[i] == '%' && i + 2 < text.size() && HexValue(text[i + 1]) >= 0 &&
                      HexValue(text[i + 2]) >= 0;
    if (!code) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(HexValue(text[i + 1]) * 16 + HexValue(text[i + 2]));
    i += 2;
  }
  return out;
}

bool HasScheme(std::string_view href) {
  const size_t end = href.find_first_of(":/?#");
  if (end == std::string_view::npos || end == 0 || href[end] != ':') return false;
  return isalpha(static_cast<unsigned char>(href[0])) != 0;
}

// Resolves "." and "..", never above the root.
std::string Normalise(std::string_view path) {
  std::vector<std::string_view> parts;
  const bool folder = path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..");
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  std::string out;
  for (const std::string_view part : parts) neptune::StrAppend(&out, "/", part);
  if (folder || out.empty()) out += '/';
  return out;
}

}  // namespace

std::optional<std::string> ResolvePath(std::string_view page_path, std::string_view href) {
  if (href.starts_with("file:///")) href.remove_prefix(7);
  if (href.empty() || href[0] == '#' || href.starts_with("//") || HasScheme(href)) {
    return std::nullopt;
  }
  href = href.substr(0, href.find_first_of("?#"));
  if (href.empty()) return std::string(page_path);
  const std::string name = DecodePercent(href);
  if (name.find('\0') != std::string::npos) return std::nullopt;
  if (name[0] == '/') return Normalise(name);
  return Normalise(neptune::StrCat(page_path.substr(0, page_path.rfind('/') + 1), name));
}

void LinkResolver::AddPage(std::string path, std::string url) {
  urls_.try_emplace(std::move(path), std::move(url));
}

void LinkResolver::AddPublicPlace(std::string url_prefix, std::string path_prefix) {
  public_places_.push_back({std::move(url_prefix), std::move(path_prefix)});
}

std::optional<std::string_view> LinkResolver::UrlOf(const std::string& path) const {
  for (const char* suffix : {"", "index.html", "/index.html", ".html"}) {
    if (const auto found = urls_.find(path + suffix); found != urls_.end()) return found->second;
  }
  return std::nullopt;
}

std::optional<std::string_view> LinkResolver::Resolve(std::string_view page_path,
                                                      std::string_view href) const {
  if (const auto path = ResolvePath(page_path, href)) return UrlOf(*path);
  for (const PublicPlace& place : public_places_) {
    if (!href.starts_with(place.url_prefix)) continue;
    const std::string_view rest = href.substr(place.url_prefix.size());
    if (const auto path = ResolvePath(place.path_prefix, rest.empty() ? "." : rest)) {
      return UrlOf(*path);
    }
  }
  return std::nullopt;
}

}  // namespace search::tools
