#include "frontend/render/wording/address.h"

#include "frontend/model/search_request.h"
#include "frontend/render/markup/markup_writer.h"
#include "neptune/base/strings.h"
#include "neptune/base/utf8.h"

namespace search::frontend {
namespace {

constexpr std::string_view kEllipsis = "…";

std::string_view WithoutScheme(std::string_view url) {
  for (std::string_view scheme : {"https://", "http://", "doc:"}) {
    if (url.starts_with(scheme)) return url.substr(scheme.size());
  }
  return url;
}

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

size_t TotalSize(const std::vector<std::string>& parts) {
  size_t size = 0;
  for (const std::string& part : parts) size += part.size();
  return size;
}

void Shorten(std::string* part, size_t size_max) {
  if (part->size() <= size_max) return;
  *part = neptune::StrCat(neptune::TruncateUtf8(*part, size_max), kEllipsis);
}

}  // namespace

std::string CachedCopyPath(std::string_view doc_id, std::string_view query, bool is_plain) {
  std::string path = neptune::StrCat("/doc/", EncodeParameter(doc_id));
  if (query.empty()) return path;
  neptune::StrAppend(&path, "?q=", EncodeParameter(query), is_plain ? "&syntax=plain" : "");
  return path;
}

bool IsWebAddress(std::string_view url) {
  return IsSafeLink(url) && url[0] != '/' && url[0] != '?' && url[0] != '#';
}

std::vector<std::string> AddressParts(std::string_view url) {
  // Longer addresses are cut before they are split, which bounds the work.
  std::vector<std::string> parts = SplitPath(neptune::TruncateUtf8(WithoutScheme(url), 8 * 1024));
  if (parts.empty()) return {std::string(kEllipsis)};
  bool left_out = false;
  while (parts.size() > 2 && TotalSize(parts) > kShownAddressSizeMax) {
    parts.erase(parts.begin() + 1 + (parts.size() > 3 ? 1 : 0));
    left_out = true;
  }
  if (left_out) parts.insert(parts.end() - 1, std::string(kEllipsis));
  if (TotalSize(parts) > kShownAddressSizeMax + kEllipsis.size()) {
    for (std::string& part : parts) Shorten(&part, kShownAddressSizeMax / 2);
  }
  return parts;
}

}  // namespace search::frontend
