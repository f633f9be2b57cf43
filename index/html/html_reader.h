// Reads an HTML page: title, headings, readable text with its structure, and links with their
// anchor texts.
//
// Source: WHATWG HTML parsing, as implemented by the gumbo library. The rules that detect
//   navigation are ours.
// Threads: pure function; pages can be read on several threads at once.
// Errors: RESOURCE_EXHAUSTED if the parser needs more than `memory_max`. Any other input is read as
//   a browser would read it.
// Limits: HtmlOutlineLimits bound the time, `memory_max` the memory, HtmlPageLimits the result. A
//   page beyond these limits is read up to the limit and marked `is_cut`.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "index/html/document_structure.h"
#include "index/html/html_outline.h"
#include "neptune/base/status.h"

namespace search::html {

inline constexpr size_t kHtmlSizeMax = size_t{8} << 20;
inline constexpr size_t kHtmlMemoryMax = size_t{512} << 20;

struct HtmlPageLimits {
  static constexpr size_t kTextSizeMax = size_t{4} << 20;
  static constexpr size_t kTitleSizeMax = 512;
  static constexpr size_t kUrlSizeMax = 2048;  // bytes of a link's URL
  static constexpr size_t kHeadingsMax = 512;
  static constexpr size_t kLinksMax = 4096;
  static constexpr size_t kAnchorTextSizeMax = 200;
};

struct HtmlLink {
  std::string href;  // as written, surrounding white space removed
  std::string text;  // words of the link, may be empty
};

struct HtmlPage {
  std::string title;  // text of <title>, else of the first <h1>; may be empty
  std::vector<std::string> headings;
  std::string text;
  // Structure of the text. Targets of its links are as written in the page: ResolveTargets makes
  // them what a structure may hold.
  DocumentStructure structure;
  // Links in the page's own content; those in navigation are omitted.
  std::vector<HtmlLink> links;
  // The page only redirects its reader (meta refresh).
  bool is_redirect = false;
  bool is_cut = false;
};

// `bytes` are UTF-8 or, if declared, windows-1252 or iso-8859-1; invalid sequences become U+FFFD.
// The main part is the element <main> or role=main if there is one, else the body; scripts,
// navigation, search forms, hidden elements and footers in it are skipped.
neptune::StatusOr<HtmlPage> ReadHtml(std::string_view bytes, const HtmlOutlineLimits& limits = {},
                                     size_t memory_max = kHtmlMemoryMax);

}  // namespace search::html
