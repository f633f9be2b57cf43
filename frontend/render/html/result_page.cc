#include <algorithm>
#include <string>
#include <string_view>

#include "frontend/render/html/coverage_section.h"
#include "frontend/render/html/detail_sections.h"
#include "frontend/render/html/page_frame.h"
#include "frontend/render/html/pages.h"
#include "frontend/render/wording/address.h"
#include "frontend/render/wording/paging.h"
#include "frontend/render/wording/wording.h"
#include "neptune/base/strings.h"

namespace search::frontend::html {
namespace {

using neptune::StrCat;

std::string PagePath(const SearchAnswer& answer, uint32_t start) {
  return SearchPath(RequestOfPage(answer, start));
}

// The same page with nothing folded.
std::string UnfoldedPath(const SearchAnswer& answer) {
  SearchPageRequest request = RequestOfPage(answer, answer.start);
  request.fold = false;
  request.first = 0;
  return SearchPath(request);
}

// All results of the result's site; the unfolded page if no question asks for them.
std::string MoreOfSitePath(const SearchResult& result, const SearchAnswer& answer) {
  if (result.site_query.empty()) return UnfoldedPath(answer);
  return SearchPath(RequestForQuery(answer, result.site_query));
}

// The cached copy of a document, with the words of the question marked.
std::string CopyPath(std::string_view doc_id, const SearchAnswer& answer) {
  return CachedCopyPath(doc_id, answer.searched_query(), answer.is_plain);
}

// Link target of the title: the document itself if it is on the Web, else the cached copy.
std::string TitleLink(const SearchResult& result, const SearchAnswer& answer) {
  return IsWebAddress(result.url) ? result.url : CopyPath(result.doc_id, answer);
}

void WriteAddressParts(MarkupWriter& html, std::string_view url) {
  bool is_first = true;
  for (const std::string& part : AddressParts(url)) {
    if (is_first) {
      html.TextElement("span", part, {{"class", "first"}});
    } else {
      html.TextElement("span", "›", {{"class", "separator"}, {"aria-hidden", "true"}});
      html.Text(part);
    }
    is_first = false;
  }
}

void WriteAddress(MarkupWriter& html, const SearchResult& result, const SearchAnswer& answer) {
  const Element line(html, "p", {{"class", "address"}, {"dir", "ltr"}});
  const bool is_public = IsWebAddress(result.public_url);
  const std::string& address = is_public ? result.public_url : result.url;
  if (!result.site.empty() && result.site != AddressParts(address)[0]) {
    html.TextElement("span", result.site, {{"class", "first"}});
    html.TextElement("span", "·", {{"class", "separator"}, {"aria-hidden", "true"}});
  }
  if (is_public) {
    // The title leads to the cached copy, which is what was searched.
    const Element link(html, "a", {{"href", address}, {"rel", "noopener nofollow"}});
    WriteAddressParts(html, address);
  } else {
    WriteAddressParts(html, address);
  }
  if (!result.date.empty()) {
    html.TextElement("span", "·", {{"class", "separator"}, {"aria-hidden", "true"}});
    html.TextElement("time", result.date, {{"datetime", result.date}});
  }
  if (IsWebAddress(result.url)) {
    html.Text(" ");
    html.TextElement("a", "Cached copy",
                     {{"class", "copy"},
                      {"href", CopyPath(result.doc_id, answer)},
                      {"aria-label", StrCat("Cached copy of ", result.title)}});
  }
}

void WriteSnippet(MarkupWriter& html, const SearchResult& result) {
  if (!result.has_summary) {
    html.TextElement("p",
                     result.title.empty()
                         ? "The title and summary are missing: the document server did not answer."
                         : "The summary is missing: the document server did not answer.",
                     {{"class", "snippet missing"}});
    return;
  }
  const Element snippet(html, "p", {{"class", "snippet"}, {"dir", "auto"}});
  for (const TextPiece& piece : result.snippet) {
    if (piece.matches_query) {
      html.TextElement("mark", piece.text);
    } else {
      html.Text(piece.text);
    }
  }
}

void WriteLacks(MarkupWriter& html, const SearchResult& result) {
  if (result.lacks.empty()) return;
  const Element line(html, "p", {{"class", "lacks"}, {"dir", "auto"}});
  html.Text("Without: ");
  for (const std::string& word : result.lacks) html.TextElement("s", word);
}

// What is folded behind the result.
void WriteFolded(MarkupWriter& html, const SearchResult& result, const SearchAnswer& answer) {
  if (!result.similar.empty()) {
    const size_t count = result.similar.size();
    const Element details(html, "details", {{"class", "folded"}});
    html.TextElement("summary", count == 1 ? "1 similar page" : StrCat(count, " similar pages"));
    const Element list(html, "ul");
    for (const FoldedLink& similar : result.similar) {
      const Element item(html, "li", {{"dir", "auto"}});
      html.TextElement("a", similar.title.empty() ? similar.url : similar.title,
                       {{"href", CopyPath(similar.doc_id, answer)}});
      html.TextElement("span", similar.url, {{"class", "address"}, {"dir", "ltr"}});
    }
  }
  if (result.more_of_site > 0) {
    const Element line(html, "p", {{"class", "folded"}});
    html.TextElement("a", StrCat(result.more_of_site, " more from ", result.site),
                     {{"href", MoreOfSitePath(result, answer)}});
  }
}

// Says that something is folded, with a link to the page as it is ranked.
void WriteUnfoldLink(MarkupWriter& html, const SearchAnswer& answer) {
  const size_t folded = CoveredCount(answer) - answer.results.size();
  if (folded == 0) return;
  const Element line(html, "p", {{"class", "unfold"}});
  html.Text(folded == 1 ? "1 result of this page is folded behind another one. "
                        : StrCat(folded, " results of this page are folded behind others. "));
  html.TextElement("a", "Show all", {{"href", UnfoldedPath(answer)}});
}

std::string TitleText(const SearchResult& result) {
  if (result.title.find_first_not_of(" \t\r\n") != std::string::npos) return result.title;
  return StrCat("Document ", result.doc_id);
}

void WriteResult(MarkupWriter& html, const SearchResult& result, const SearchAnswer& answer) {
  const Element item(html, "li");
  const Element article(html, "article");
  if (result.has_summary || !result.url.empty()) WriteAddress(html, result, answer);
  {
    const Element heading(html, "h2", {{"dir", "auto"}});
    html.TextElement("a", TitleText(result), {{"href", TitleLink(result, answer)}});
  }
  WriteSnippet(html, result);
  WriteLacks(html, result);
  WriteFolded(html, result, answer);
  WriteExplanation(html, result);
}

void WritePageLink(MarkupWriter& html, std::string_view text, std::string_view label,
                   std::string_view path, std::string_view relation) {
  const Element item(html, "li");
  html.TextElement("a", text, {{"href", path}, {"aria-label", label}, {"rel", relation}});
}

void WriteNumberedPage(MarkupWriter& html, const SearchAnswer& answer, const PageLink& page,
                       uint64_t current) {
  const bool is_near = page.number + 1 >= current && page.number <= current + 1;
  const Element item(html, "li", {{"class", is_near ? "number near" : "number"}});
  if (page.is_current) {
    html.TextElement("span", StrCat(page.number), {{"class", "current"}, {"aria-current", "page"}});
    return;
  }
  html.TextElement(
      "a", StrCat(page.number),
      {{"href", PagePath(answer, page.start)}, {"aria-label", StrCat("Page ", page.number)}});
}

void WritePages(MarkupWriter& html, const SearchAnswer& answer) {
  const Paging paging = ComputePaging(answer);
  if (paging.pages.empty() && !paging.previous) return;
  const Element nav(html, "nav", {{"class", "pages"}, {"aria-label", "Pages of results"}});
  const Element list(html, "ul");
  const bool first_is_shown = !paging.pages.empty() && paging.pages.front().start == 0;
  if (paging.first && !first_is_shown) {
    WritePageLink(html, "First", "First page", PagePath(answer, *paging.first), "first");
  }
  if (paging.previous) {
    WritePageLink(html, "‹ Back", "Back to the previous page", PagePath(answer, *paging.previous),
                  "prev");
  }
  uint64_t current = 0;
  for (const PageLink& page : paging.pages) current = page.is_current ? page.number : current;
  for (const PageLink& page : paging.pages) WriteNumberedPage(html, answer, page, current);
  if (paging.next) {
    WritePageLink(html, "Next ›", "Next page", PagePath(answer, *paging.next), "next");
  }
}

void WriteNotes(MarkupWriter& html, const SearchAnswer& answer) {
  if (answer.notes.empty()) return;
  const Element list(html, "ul",
                     {{"class", "notes"}, {"aria-label", "How the query was understood"}});
  for (const std::string& note : answer.notes) html.TextElement("li", note);
}

// Address of the query without the part; the home page if nothing is left of it.
std::string PathWithout(const Narrowing& narrowing, const SearchAnswer& answer) {
  const bool is_blank = narrowing.query_without.find_first_not_of(" \t") == std::string::npos;
  return is_blank ? "/" : SearchPath(RequestForQuery(answer, narrowing.query_without));
}

void WriteNarrowings(MarkupWriter& html, const SearchAnswer& answer) {
  if (answer.narrowings.empty()) return;
  const Element list(html, "ul", {{"class", "chips"}, {"aria-label", "What narrows the results"}});
  for (const Narrowing& narrowing : answer.narrowings) {
    const char* const positive = narrowing.is_field ? "only " : "only site ";
    const char* const what = narrowing.is_exclusion ? "without " : positive;
    const Element item(html, "li");
    const Element link(html, "a",
                       {{"href", PathWithout(narrowing, answer)},
                        {"dir", "auto"},
                        {"aria-label", StrCat("Take back: ", what, narrowing.text)}});
    html.Text(what);
    html.TextElement("b", narrowing.text);
    html.TextElement("span", "×", {{"aria-hidden", "true"}});
  }
}

void WriteGivenUp(MarkupWriter& html, const SearchAnswer& answer) {
  if (answer.given_up.empty()) return;
  const Element line(html, "p", {{"class", "given-up"}});
  html.Text("Not every result has all words. Only results with: ");
  for (const GivenUpWord& given_up : answer.given_up) {
    html.TextElement(
        "a", given_up.word,
        {{"href", SearchPath(RequestForQuery(answer, given_up.demanding))}, {"dir", "auto"}});
    html.Text(StrCat(" (missing in ", given_up.result_count, ") "));
  }
}

void WriteCorrection(MarkupWriter& html, const SearchAnswer& answer) {
  const Element line(html, "p", {{"class", "did-you-mean"}});
  html.Text("Showing results for ");
  html.TextElement(
      "a", answer.corrected_query,
      {{"href", SearchPath(RequestForQuery(answer, answer.corrected_query))}, {"dir", "auto"}});
  SearchPageRequest as_typed = RequestForQuery(answer, answer.query);
  as_typed.may_correct = false;
  html.Text(". Search instead for ");
  html.TextElement("a", answer.query, {{"href", SearchPath(as_typed)}, {"dir", "auto"}});
  html.Text(".");
}

void WriteOtherSpelling(MarkupWriter& html, const SearchAnswer& answer) {
  if (!answer.corrected_query.empty()) return WriteCorrection(html, answer);
  if (answer.did_you_mean.empty()) return;
  const Element line(html, "p", {{"class", "did-you-mean"}});
  html.Text("Did you mean ");
  html.TextElement(
      "a", answer.did_you_mean,
      {{"href", SearchPath(RequestForQuery(answer, answer.did_you_mean))}, {"dir", "auto"}});
  html.Text("?");
}

// Says that demands are not met, with a link to the question that insists on them.
void WriteUnmetDemands(MarkupWriter& html, const SearchAnswer& answer) {
  if (answer.unmet_demands.empty()) return;
  const Element line(html, "p", {{"class", "did-you-mean"}, {"dir", "auto"}});
  html.Text(UnmetSentence(answer) + " ");
  SearchPageRequest exactly = RequestForQuery(answer, answer.searched_query());
  exactly.may_relax = false;
  html.TextElement("a", "Search for exactly this", {{"href", SearchPath(exactly)}});
}

void WriteAdvice(MarkupWriter& html) {
  const Element list(html, "ul", {{"class", "advice"}});
  html.TextElement("li", "Check the spelling of each word.");
  html.TextElement("li",
                   "Try other words, or fewer plus signs, quotes around phrases, exclusions, and "
                   "operators as title: and site:.");
  const Element item(html, "li");
  html.Text("See ");
  html.TextElement("a", "the query language", {{"href", "/help"}});
  html.Text(".");
}

void WriteEmptyPage(MarkupWriter& html, const SearchAnswer& answer) {
  const Element text(html, "div", {{"class", "text"}});
  if (answer.total > 0) {
    html.TextElement("h2", "There are no results this far down");
    const Element line(html, "p");
    html.Text(StrCat("The search found ", TotalSentence(answer), ". "));
    html.TextElement("a", "Go to the first page", {{"href", PagePath(answer, 0)}});
    return;
  }
  {
    const Element heading(html, "h2");
    if (answer.coverage.complete()) {
      html.Text("No document matches ");
    } else {
      html.Text(answer.coverage.was_cut()
                    ? "In the time there was, no document was found for "
                    : "In the partitions that answered, no document matches ");
    }
    html.TextElement("q", answer.query, {{"dir", "auto"}});
  }
  WriteAdvice(html);
}

void WriteResults(MarkupWriter& html, const SearchAnswer& answer) {
  const Element list(
      html, "ol", {{"class", "results"}, {"role", "list"}, {"start", uint64_t{answer.start} + 1}});
  for (const SearchResult& result : answer.results) WriteResult(html, result, answer);
}

}  // namespace

std::string ResultPage(const SearchAnswer& answer, const Site& site) {
  FrameOptions options{.title = answer.query, .query = answer.query, .count = answer.count};
  options.alternate = RequestOfPage(answer, answer.start);
  options.alternate->explain = false;
  options.alternate->site_facets = false;
  options.skip_label = "Skip to results";
  return RenderFrame(options, site, [&](MarkupWriter& html) {
    html.TextElement("h1", StrCat("Results for ", answer.searched_query()),
                     {{"class", "visually-hidden"}});
    html.TextElement("p",
                     StrCat(Capitalised(RangeSentence(answer)), " · ", FormatTook(answer.took)),
                     {{"class", "summary"}});
    WriteOtherSpelling(html, answer);
    WriteUnmetDemands(html, answer);
    WriteNarrowings(html, answer);
    WriteSites(html, answer);
    WriteOrder(html, answer);
    WriteNotes(html, answer);
    WriteGivenUp(html, answer);
    WritePartialBanner(html, answer.coverage);
    if (answer.results.empty()) {
      WriteEmptyPage(html, answer);
    } else {
      WriteResults(html, answer);
      WriteUnfoldLink(html, answer);
    }
    WritePages(html, answer);
    WriteExplanationNote(html, answer);
    WriteCoverageDetails(html, answer);
  });
}

}  // namespace search::frontend::html
