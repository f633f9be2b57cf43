#include <string>
#include <string_view>

#include "frontend/render/html/page_frame.h"
#include "frontend/render/html/pages.h"
#include "frontend/render/render.h"
#include "frontend/render/wording/wording.h"
#include "neptune/base/strings.h"
#include "neptune/base/utf8.h"

namespace search::frontend::html {
namespace {

using neptune::StrCat;

void WriteOrigin(MarkupWriter& html, const CachedDocument& document) {
  const Element origin(html, "div", {{"class", "origin"}});
  {
    const Element line(html, "p");
    html.Text("Cached copy of ");
    // If the address is not safe, the element has no href and is plain text.
    html.TextElement("a", document.url, {{"href", document.url}});
  }
  if (!document.query.empty()) {
    const Element line(html, "p");
    html.TextElement("a", "‹ Back to the results",
                     {{"href", SearchPath({.query = document.query})}});
  }
}

// Writes one paragraph for each line that is not blank.
void WriteParagraphs(MarkupWriter& html, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      html.TextElement("p", line, {{"dir", "auto"}});
    }
  }
}

}  // namespace

std::string DocumentPage(const CachedDocument& document, const Site& site) {
  const std::string title =
      document.title.empty() ? StrCat("Document ", document.doc_id) : document.title;
  const std::string_view shown = neptune::TruncateUtf8(document.text, kCachedTextSizeMax);
  return RenderFrame({.title = title, .query = document.query}, site, [&](MarkupWriter& html) {
    const Element prose(html, "article", {{"class", "prose"}});
    html.TextElement("h1", title, {{"dir", "auto"}});
    WriteOrigin(html, document);
    {
      const Element text(html, "div", {{"class", "document"}});
      WriteParagraphs(html, shown);
    }
    if (shown.size() < document.text.size()) {
      html.TextElement(
          "p",
          StrCat("This copy is truncated: its last ",
                 FormatCount(document.text.size() - shown.size()), " bytes are not shown."),
          {{"class", "banner"}});
    }
  });
}

}  // namespace search::frontend::html
