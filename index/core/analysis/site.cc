#include "index/core/analysis/site.h"

#include <utf8proc.h>

#include <algorithm>

#include "index/core/analysis/analyzer.h"
#include "index/core/analysis/unicode.h"

namespace search::index {

namespace {

// Maximal number of code points read from a name; folding yields at most kFoldedSizeMax of each.
constexpr size_t kSiteCodePointCountMax = 4 * kTermSizeMax;

bool IsLeftOut(int32_t folded) {
  switch (utf8proc_category(folded)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
      return true;
    default:
      return folded == '"' || folded == '\'';
  }
}

size_t FoldForSite(int32_t code_point, int32_t* folded) {
  int boundary_class = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(code_point, folded, unicode::kFoldedSizeMax,
                              static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
                                                             UTF8PROC_CASEFOLD | UTF8PROC_IGNORE),
                              &boundary_class);
  const bool fits = count > 0 && count <= static_cast<utf8proc_ssize_t>(unicode::kFoldedSizeMax);
  return fits ? static_cast<size_t>(count) : 0;
}

}  // namespace

std::string FoldSiteName(std::string_view utf8) {
  int32_t name[kSiteCodePointCountMax + unicode::kFoldedSizeMax];
  size_t count = 0;
  for (size_t at = 0; at < utf8.size() && count < kSiteCodePointCountMax;) {
    const unicode::Decoded next = unicode::Decode(utf8.substr(at));
    at += next.size;
    if (next.code_point < 0) continue;
    int32_t folded[unicode::kFoldedSizeMax];
    const size_t folded_count = FoldForSite(next.code_point, folded);
    for (size_t i = 0; i < folded_count; ++i) {
      if (!IsLeftOut(folded[i])) name[count++] = folded[i];
    }
  }
  std::string out;
  unicode::AppendUtf8(name, unicode::Compose(name, count), &out);
  out.resize(unicode::CutSize(out, kTermSizeMax));
  return out;
}

std::vector<std::string_view> SiteNames(std::string_view folded) {
  std::vector<std::string_view> names;
  const auto add = [&names](std::string_view name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  add(folded);
  for (size_t i = 0; i < folded.size(); ++i) {
    if (folded[i] == '-' || folded[i] == '/') add(folded.substr(0, i));
  }
  for (size_t i = 0; i < folded.size(); ++i) {
    if (folded[i] == '.') add(folded.substr(i + 1));
  }
  return names;
}

}  // namespace search::index
