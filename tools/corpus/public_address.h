// Public addresses of a tree's pages, as far as the manifest states them.
//
// Source: RFC 3986, 3.3 (characters of a path).
// Threads: plain values, pure functions.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace search::tools {

// Places of a tree's pages on the Web.
struct PublicPages {
  std::string url_prefix;      // "https://git-scm.com/docs/"; empty: nowhere
  std::string folder;          // of the tree, which the prefix stands for; empty: the whole tree
  std::string omitted_suffix;  // ".html" if public addresses end without it
  std::vector<std::string> exclude;  // globs over paths in the folder
};

// The address of the page at `inside`, a path inside the tree; "" if it has none.
std::string PublicAddress(const PublicPages& pages, std::string_view inside);

}  // namespace search::tools
