#include "tools/corpus/public_address.h"

#include <algorithm>
#include <cstdint>

#include "tools/corpus/page_tree.h"

namespace search::tools {
namespace {

constexpr std::string_view kIndexPage = "index";

bool IsPathCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~!$&'()*+,;=:@/").find(c) != std::string_view::npos;
}

std::string EncodePath(std::string_view path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    if (IsPathCharacter(c)) {
      out += c;
    } else {
      const auto byte = static_cast<uint8_t>(c);
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

}  // namespace

std::string PublicAddress(const PublicPages& pages, std::string_view inside) {
  if (pages.url_prefix.empty()) return {};
  if (!pages.folder.empty()) {
    if (!inside.starts_with(pages.folder + "/")) return {};
    inside.remove_prefix(pages.folder.size() + 1);
  }
  const bool is_excluded =
      std::any_of(pages.exclude.begin(), pages.exclude.end(),
                  [inside](const std::string& glob) { return MatchesGlob(inside, glob); });
  if (is_excluded) return {};
  if (!pages.omitted_suffix.empty() && inside.ends_with(pages.omitted_suffix)) {
    inside.remove_suffix(pages.omitted_suffix.size());
    const std::string_view name = inside.substr(inside.rfind('/') + 1);
    if (name == kIndexPage) inside.remove_suffix(kIndexPage.size());
  }
  return pages.url_prefix + EncodePath(inside);
}

}  // namespace search::tools
