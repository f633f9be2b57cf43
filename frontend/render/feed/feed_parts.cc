#include "frontend/render/feed/feed_parts.h"

#include "frontend/render/wording/address.h"
#include "frontend/render/wording/paging.h"
#include "frontend/render/wording/wording.h"
#include "neptune/base/strings.h"

namespace search::frontend::feed {

using neptune::StrCat;

std::string PageUrl(const SearchAnswer& answer, uint32_t start, PageFormat format,
                    const Site& site) {
  return StrCat(site.base_url, SearchPath(RequestOfPage(answer, start, format)));
}

std::string ResultUrl(const SearchResult& result, const Site& site) {
  if (IsWebAddress(result.url)) return result.url;
  return StrCat(site.base_url, CachedCopyPath(result.doc_id));
}

std::string ResultTitle(const SearchResult& result) {
  return result.title.empty() ? StrCat("Document ", result.doc_id) : result.title;
}

std::string FeedTitle(const SearchAnswer& answer, const Site& site) {
  return StrCat(answer.searched_query(), " – ", site.name);
}

std::string FeedSummary(const SearchAnswer& answer) {
  const std::string correction =
      answer.corrected_query.empty()
          ? ""
          : StrCat("Results for ", answer.corrected_query, " instead of ", answer.query, ": ");
  const std::string unmet = UnmetSentence(answer);
  return StrCat(correction, unmet, unmet.empty() ? "" : " ",
                answer.coverage.complete() ? "" : "Incomplete: ", TotalSentence(answer), "; ",
                CoverageSentence(answer));
}

std::string SnippetHtml(const SearchResult& result) {
  MarkupWriter html(MarkupWriter::Syntax::kHtml);
  for (const TextPiece& piece : result.snippet) {
    if (piece.matches_query) {
      html.TextElement("b", piece.text);
    } else {
      html.Text(piece.text);
    }
  }
  return html.Take();
}

void WriteOpenSearchElements(MarkupWriter& xml, const SearchAnswer& answer) {
  xml.TextElement("opensearch:totalResults", StrCat(answer.total));
  xml.TextElement("opensearch:startIndex", StrCat(answer.start));
  xml.TextElement("opensearch:itemsPerPage", StrCat(answer.count));
  xml.Empty("opensearch:Query", {{"role", "request"},
                                 {"searchTerms", answer.query},
                                 {"startIndex", answer.start},
                                 {"count", answer.count}});
}

void WriteXmlDeclaration(MarkupWriter& xml) {
  xml.Trusted(TrustedMarkup("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
}

}  // namespace search::frontend::feed
