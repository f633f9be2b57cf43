#include <string>

#include "frontend/render/feed/feed_pages.h"
#include "frontend/render/feed/feed_parts.h"
#include "frontend/render/wording/address.h"
#include "frontend/render/wording/paging.h"
#include "frontend/render/wording/wording.h"
#include "neptune/base/strings.h"

namespace search::frontend::feed {
namespace {

using neptune::StrCat;

void WriteEntry(MarkupWriter& xml, const SearchResult& result, const std::string& updated,
                const Site& site) {
  const Element entry(xml, "entry");
  xml.TextElement("title", ResultTitle(result));
  xml.Empty("link", {{"rel", "alternate"}, {"href", ResultUrl(result, site)}});
  xml.TextElement("id", StrCat(site.base_url, CachedCopyPath(result.doc_id)));
  xml.TextElement("updated", updated);
  xml.TextElement("summary", SnippetHtml(result), {{"type", "html"}});
}

void WriteLink(MarkupWriter& xml, std::string_view relation, std::string_view type,
               std::string_view url) {
  xml.Empty("link", {{"rel", relation}, {"type", type}, {"href", url}});
}

void WritePageLinks(MarkupWriter& xml, const SearchAnswer& answer, const Site& site) {
  constexpr std::string_view kAtomType = "application/atom+xml";
  const auto page = [&](uint32_t start) { return PageUrl(answer, start, PageFormat::kAtom, site); };
  const Paging paging = ComputePaging(answer);
  WriteLink(xml, "self", kAtomType, page(answer.start));
  WriteLink(xml, "alternate", "text/html", PageUrl(answer, answer.start, PageFormat::kHtml, site));
  if (paging.first) WriteLink(xml, "first", kAtomType, page(*paging.first));
  if (paging.previous) WriteLink(xml, "previous", kAtomType, page(*paging.previous));
  if (paging.next) WriteLink(xml, "next", kAtomType, page(*paging.next));
  WriteLink(xml, "search", "application/opensearchdescription+xml",
            StrCat(site.base_url, "/opensearch.xml"));
}

}  // namespace

std::string AtomFeed(const SearchAnswer& answer, const Site& site) {
  MarkupWriter xml(MarkupWriter::Syntax::kXml);
  const std::string updated = FormatWallTime(answer.answered_at);
  WriteXmlDeclaration(xml);
  {
    const Element feed(xml, "feed",
                       {{"xmlns", kAtomNamespace}, {"xmlns:opensearch", kOpenSearchNamespace}});
    xml.TextElement("title", FeedTitle(answer, site));
    xml.TextElement("subtitle", FeedSummary(answer));
    xml.TextElement("id", PageUrl(answer, answer.start, PageFormat::kHtml, site));
    xml.TextElement("updated", updated);
    {
      const Element author(xml, "author");
      xml.TextElement("name", site.name);
    }
    WritePageLinks(xml, answer, site);
    WriteOpenSearchElements(xml, answer);
    for (const SearchResult& result : answer.results) WriteEntry(xml, result, updated, site);
  }
  return xml.Take();
}

}  // namespace search::frontend::feed
