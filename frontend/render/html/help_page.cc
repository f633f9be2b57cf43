#include <string>

#include "frontend/render/html/page_frame.h"
#include "frontend/render/html/pages.h"
#include "index/core/query/examples.h"

namespace search::frontend::html {
namespace {

void WriteExample(MarkupWriter& html, const index::QueryExample& example) {
  const Element row(html, "tr");
  {
    const Element cell(html, "th", {{"scope", "row"}});
    html.TextElement("code", example.syntax);
  }
  const Element cell(html, "td");
  html.TextElement("div", example.meaning);
  html.TextElement("a", example.query,
                   {{"href", SearchPath({.query = std::string(example.query)})}});
}

void WriteExamples(MarkupWriter& html) {
  const Element table(html, "table", {{"class", "examples"}});
  html.TextElement("caption", "What to type", {{"class", "visually-hidden"}});
  {
    const Element head(html, "thead");
    const Element row(html, "tr");
    html.TextElement("th", "Type", {{"scope", "col"}});
    html.TextElement("th", "To find, for example", {{"scope", "col"}});
  }
  const Element body(html, "tbody");
  for (const index::QueryExample& example : index::QueryExamples()) WriteExample(html, example);
}

}  // namespace

std::string HelpPage(const Site& site) {
  return RenderFrame({.title = "Query help"}, site, [&](MarkupWriter& html) {
    const Element text(html, "div", {{"class", "text"}});
    html.TextElement("h1", "Query language");
    html.TextElement("p",
                     "Type a few words. Documents with all of them come first, then those with the "
                     "words that tell most; a plus sign before a word demands it. Documents that "
                     "use the words more often, especially in the title, and documents that many "
                     "others link to rank higher. Everything else is optional. If no document has "
                     "what is demanded, those with some of the words are shown, and the page says "
                     "so.");
    WriteExamples(html);
    html.TextElement("h2", "How complete an answer is");
    html.TextElement("p",
                     "The documents are divided into partitions that are searched in parallel. "
                     "The line below the results says how many partitions answered and whether the "
                     "answer came from the cache. If one is missing, the page says so at the top.");
    html.TextElement("h2", "For programs");
    const Element line(html, "p");
    html.Text("Add ");
    html.TextElement("code", "format=json");
    html.Text(", ");
    html.TextElement("code", "rss");
    html.Text(" or ");
    html.TextElement("code", "atom");
    html.Text(" to the address of a search; ");
    html.TextElement("code", "start");
    html.Text(" (from 0) and ");
    html.TextElement("code", "count");
    html.Text(" (up to 100) select the results. Browsers discover the ");
    html.TextElement("a", "OpenSearch description", {{"href", "/opensearch.xml"}});
    html.Text(" automatically.");
  });
}

}  // namespace search::frontend::html
