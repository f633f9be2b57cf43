// The frame of all pages: head, header with the search box, landmarks, footer.
//
// Threads: pure functions.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/model/search_request.h"
#include "frontend/model/site.h"
#include "frontend/render/markup/markup_writer.h"

namespace search::frontend {

struct FrameOptions {
  // Title of the window; the site's name is appended.
  std::string title = {};
  // Text shown in the search box.
  std::string query = {};
  // Results per page; the search form keeps the value if it is not the default.
  uint32_t count = SearchRequestLimits::kCountDefault;
  // The search whose other formats the head and the footer link to.
  std::optional<SearchPageRequest> alternate = std::nullopt;
  // Label of the skip link.
  std::string skip_label = "Skip to content";
  // Pages for operators use the whole width of the window.
  bool is_wide = false;
  // Interval in seconds at which the page reloads itself; 0: never.
  uint32_t refresh_s = 0;
  // The home page has the search box in its middle and none at the top.
  bool is_home = false;
};

// Returns a whole page; `body(writer)` writes the content of its <main>.
template <typename Body>
std::string RenderFrame(const FrameOptions& options, const Site& site, Body body);

// Writes the search form. REQUIRES: at most once per page.
void WriteSearchForm(MarkupWriter& html, const FrameOptions& options, bool takes_focus);

// Writes the logo, an inline picture that is hidden from screen readers.
void WriteLogo(MarkupWriter& html);

namespace internal {
// The parts of a page before and after its content; the first leaves html, body and main open.
void WriteFrameBegin(MarkupWriter& html, const FrameOptions& options, const Site& site);
void WriteFrameEnd(MarkupWriter& html, const FrameOptions& options);
}  // namespace internal

template <typename Body>
std::string RenderFrame(const FrameOptions& options, const Site& site, Body body) {
  constexpr size_t kPageSize = 24 * 1024;  // few pages are larger
  MarkupWriter html(MarkupWriter::Syntax::kHtml, kPageSize);
  internal::WriteFrameBegin(html, options, site);
  body(html);
  internal::WriteFrameEnd(html, options);
  return html.Take();
}

}  // namespace search::frontend
