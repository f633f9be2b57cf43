#include <string>

#include "frontend/render/html/page_frame.h"
#include "frontend/render/html/pages.h"
#include "neptune/base/strings.h"

namespace search::frontend::html {

std::string ErrorPage(const ErrorAnswer& error, const Site& site) {
  return RenderFrame({.title = error.title, .query = error.query}, site, [&](MarkupWriter& html) {
    const Element text(html, "div", {{"class", "text"}});
    html.TextElement("h1", error.title);
    if (!error.detail.empty()) html.TextElement("p", error.detail);
    if (error.retry_after_s > 0) {
      html.TextElement("p", neptune::StrCat("Try again in ", error.retry_after_s, " second",
                                            error.retry_after_s == 1 ? "." : "s."));
    }
    html.TextElement("p", neptune::StrCat("HTTP status ", error.http_status), {{"class", "soft"}});
    const Element line(html, "p");
    html.TextElement("a", "Start a new search", {{"href", "/"}});
  });
}

}  // namespace search::frontend::html
