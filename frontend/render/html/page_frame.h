// What all pages have in common: head, header with the search box, landmarks, footer.
//
// Threads: pure functions.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/render/markup/markup_writer.h"
#include "frontend/search_request.h"
#include "frontend/site.h"

namespace search::frontend {

struct FrameOptions {
  // Of the window; the site's name is added.
  std::string title = {};
  // Kept in the search box.
  std::string query = {};
  // Results wanted on a page, kept by the search box if it is not the default.
  uint32_t count = SearchRequestLimits::kCountDefault;
  // The search whose other formats the head and the footer link to.
  std::optional<SearchPageRequest> alternate = std::nullopt;
  // Where the skip link says it leads.
  std::string skip_label = "Skip to content";
  // For operators: as wide as the window.
  bool is_wide = false;
  // The page loads itself anew so often; 0: it does not.
  uint32_t refresh_s = 0;
  // The home page has the search box in its middle and none at the top.
  bool is_home = false;
};

// The page around what `body(writer)` writes into its <main>.
template <typename Body>
std::string RenderFrame(const FrameOptions& options, const Site& site, Body body);

// The search form; once on a page.
void WriteSearchForm(MarkupWriter& html, const FrameOptions& options, bool takes_focus);

// Site's logo, an inline picture that says nothing to screen readers.
void WriteLogo(MarkupWriter& html);

namespace internal {
// The two halves of a page; the first leaves html, body and main open.
void WriteFrameBegin(MarkupWriter& html, const FrameOptions& options, const Site& site);
void WriteFrameEnd(MarkupWriter& html, const FrameOptions& options);
}  // namespace internal

template <typename Body>
std::string RenderFrame(const FrameOptions& options, const Site& site, Body body) {
  MarkupWriter html(MarkupWriter::Syntax::kHtml);
  internal::WriteFrameBegin(html, options, site);
  body(html);
  internal::WriteFrameEnd(html, options);
  return html.Take();
}

}  // namespace search::frontend
