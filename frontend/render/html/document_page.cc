#include <string>
#include <string_view>

#include "frontend/render/html/document_body.h"
#include "frontend/render/html/page_frame.h"
#include "frontend/render/html/pages.h"
#include "frontend/render/render.h"
#include "frontend/render/wording/address.h"
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
    const bool is_public = IsWebAddress(document.public_url);
    const std::string& address = is_public ? document.public_url : document.url;
    // If the address is not safe, the element has no href and is plain text.
    html.TextElement("a", address, {{"href", address}, {"rel", "noopener nofollow"}});
    if (is_public && document.url != document.public_url)
      html.Text(StrCat(", from ", document.url));
  }
  if (!document.query.empty()) {
    const Element line(html, "p");
    html.TextElement(
        "a", "‹ Back to the results",
        {{"href", SearchPath({.query = document.query, .is_plain = document.is_plain})}});
  }
}

// How many words are marked, and a link to the first.
void WriteMatches(MarkupWriter& html, size_t match_count) {
  if (match_count == 0) return;
  const Element line(html, "p", {{"class", "matches"}});
  html.Text(match_count == 1 ? "1 match is marked. "
                             : StrCat(FormatCount(match_count), " matches are marked. "));
  html.TextElement("a", match_count == 1 ? "Jump to it" : "Jump to the first",
                   {{"href", "#" + MarkId(1)}});
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
    const DocumentBody body(document, shown);
    WriteMatches(html, body.match_count());
    {
      const Element text(html, "div", {{"class", body.is_plain() ? "document plain" : "document"}});
      body.Write(html);
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
