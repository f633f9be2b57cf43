// Turns a link as written in a page into the url of the page of the corpus that it leads to.
//
// Source: RFC 3986, 5.2 (relative references), on paths of files.
// Threads: immutable after the last Add; then Resolve is thread-safe.
// Shapes: a page's path is where the file would be on an installed system, "/usr/share/doc/…"; so
//   links between packages resolve as well.
// Limits: urls of CorpusLimits::kUrlSizeMax bytes.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace search::tools {

// The path a link leads to from the page at `page_path`: without query and fragment, percent codes
// decoded, dots resolved. Returns nothing for links with a scheme or host, and for bare fragments.
std::optional<std::string> ResolvePath(std::string_view page_path, std::string_view href);

class LinkResolver {
 public:
  // `path` is absolute. A path added twice keeps its first url.
  void AddPage(std::string path, std::string url);

  // Maps urls that begin with `url_prefix` to the same names under `path_prefix`.
  void AddPublicPlace(std::string url_prefix, std::string path_prefix);

  // The url of the page, or nothing if the link leaves the corpus. A folder resolves to its
  // index.html.
  std::optional<std::string_view> Resolve(std::string_view page_path, std::string_view href) const;

 private:
  struct PublicPlace {
    std::string url_prefix;
    std::string path_prefix;
  };

  std::optional<std::string_view> UrlOf(const std::string& path) const;

  absl::flat_hash_map<std::string, std::string> urls_;
  std::vector<PublicPlace> public_places_;
};

}  // namespace search::tools
