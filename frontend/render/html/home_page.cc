#include <string>

#include "frontend/render/html/page_frame.h"
#include "frontend/render/html/pages.h"
#include "frontend/render/wording/wording.h"
#include "index/core/query/examples.h"
#include "neptune/base/strings.h"

namespace search::frontend::html {
namespace {

constexpr size_t kSuggestionCount = 3;

void WriteSuggestions(MarkupWriter& html) {
  const Element list(html, "ul", {{"class", "suggestions"}, {"aria-label", "Searches to try"}});
  size_t count = 0;
  for (const index::QueryExample& example : index::QueryExamples()) {
    if (count++ == kSuggestionCount) break;
    const Element item(html, "li");
    html.TextElement("a", example.query,
                     {{"href", SearchPath({.query = std::string(example.query)})}});
  }
}

}  // namespace

std::string HomePage(const Site& site) {
  const FrameOptions options{.skip_label = "Skip to search", .is_home = true};
  return RenderFrame(options, site, [&](MarkupWriter& html) {
    WriteLogo(html);
    html.TextElement("h1", site.name);
    WriteSearchForm(html, options, true);
    WriteSuggestions(html);
    if (site.document_count > 0) {
      html.TextElement("p", neptune::StrCat(FormatCount(site.document_count), " documents"),
                       {{"class", "soft"}});
    }
  });
}

}  // namespace search::frontend::html
