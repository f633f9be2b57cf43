// A table that scrolls horizontally on narrow screens, is focusable by keyboard and has a name for
// screen readers.
//
// Source: WCAG 2.1, 1.4.10 and 2.1.1.
// Threads: pure functions.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/render/markup/markup_writer.h"

namespace search::frontend {

// `rows()` writes <tr> elements.
template <typename Rows>
void WriteTable(MarkupWriter& html, std::string_view caption,
                const std::vector<std::string_view>& columns, Rows rows) {
  const Element scroll(
      html, "div",
      {{"class", "table-scroll"}, {"role", "region"}, {"aria-label", caption}, {"tabindex", "0"}});
  const Element table(html, "table");
  html.TextElement("caption", caption, {{"class", "visually-hidden"}});
  {
    const Element head(html, "thead");
    const Element row(html, "tr");
    for (const std::string_view name : columns) html.TextElement("th", name, {{"scope", "col"}});
  }
  const Element body(html, "tbody");
  rows();
}

}  // namespace search::frontend
