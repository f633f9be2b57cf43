#include "frontend/render/feed/feed_pages.h"
#include "frontend/render/feed/feed_parts.h"
#include "neptune/base/strings.h"

namespace search::frontend::feed {
namespace {

using neptune::StrCat;

void WriteItem(MarkupWriter& xml, const SearchResult& result, const Site& site) {
  const Element item(xml, "item");
  xml.TextElement("title", ResultTitle(result));
  xml.TextElement("link", ResultUrl(result, site));
  xml.TextElement("guid", StrCat("document ", result.doc_id), {{"isPermaLink", "false"}});
  xml.TextElement("description", SnippetHtml(result));
}

}  // namespace

std::string RssFeed(const SearchAnswer& answer, const Site& site) {
  MarkupWriter xml(MarkupWriter::Syntax::kXml);
  WriteXmlDeclaration(xml);
  {
    const Element rss(xml, "rss",
                      {{"version", "2.0"},
                       {"xmlns:opensearch", kOpenSearchNamespace},
                       {"xmlns:atom", kAtomNamespace}});
    const Element channel(xml, "channel");
    xml.TextElement("title", FeedTitle(answer, site));
    xml.TextElement("link", PageUrl(answer, answer.start, PageFormat::kHtml, site));
    xml.TextElement("description", FeedSummary(answer));
    xml.Empty("atom:link", {{"rel", "self"},
                            {"type", "application/rss+xml"},
                            {"href", PageUrl(answer, answer.start, PageFormat::kRss, site)}});
    xml.Empty("atom:link", {{"rel", "search"},
                            {"type", "application/opensearchdescription+xml"},
                            {"href", StrCat(site.base_url, "/opensearch.xml")}});
    WriteOpenSearchElements(xml, answer);
    for (const SearchResult& result : answer.results) WriteItem(xml, result, site);
  }
  return xml.Take();
}

}  // namespace search::frontend::feed
