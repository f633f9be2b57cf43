// Finds the pages in a folder tree, in a stable order.
//
// Reads folders.
// Threads: functions without state.
// Errors: kNotFound no such folder; kResourceExhausted more than kPagesMax files.
// Limits: symbolic links are not followed; one that points to a page of the same tree is another
//   name of it.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/corpus/public_address.h"

namespace search::tools {

inline constexpr size_t kPagesMax = 5'000'000;

enum class PageKind { kHtml, kMarkdown, kMan };

// A folder with pages, and the naming of its pages.
struct PageTree {
  std::string folder;       // on this machine
  std::string path_prefix;  // where it would be when installed, for links: "/usr/share/doc/x"
  std::string url_prefix;   // "doc:PACKAGE/"
  std::string site;
  std::vector<PageKind> kinds = {PageKind::kHtml};
  // Globs over the path inside the tree; no `include` means everything. `*` and `?` stay within a
  // name, `**` crosses folders.
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  // Title suffixes repeated on the whole site; the first that matches is removed.
  std::vector<std::string> title_suffixes;
  PublicPages public_pages;
};

struct PageFile {
  std::string file;  // on this machine
  std::string path;  // installed, without ".gz"
  std::string url;
  PageKind kind = PageKind::kHtml;
  size_t tree_index = 0;
};

struct PageAlias {
  std::string path;
  std::string target_path;
};

struct PageList {
  std::vector<PageFile> pages;  // by tree, then by path
  std::vector<PageAlias> aliases;
};

neptune::StatusOr<PageList> ListPages(const std::vector<PageTree>& trees);

// True if `path` matches `glob`. Cost: the product of their sizes.
bool MatchesGlob(std::string_view path, std::string_view glob);

}  // namespace search::tools
