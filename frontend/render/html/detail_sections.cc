#include "frontend/render/html/detail_sections.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "frontend/model/search_request.h"
#include "frontend/render/html/table.h"
#include "frontend/render/wording/paging.h"
#include "frontend/render/wording/wording.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrAppend;
using neptune::StrCat;

// Four decimals, to which parts add up to the score.
std::string Number(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.4f", value);
  return text;
}

// A length in words.
std::string Length(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f", value);
  return text;
}

void WriteSite(MarkupWriter& html, const SiteFacet& site, const SearchAnswer& answer) {
  const bool is_exact = answer.site_facets->is_exact;
  const Element item(html, "li");
  const std::string count = StrCat(is_exact ? "" : "≥ ", FormatCount(site.document_count));
  const std::string label = StrCat("Only site ", site.name, ": ", FormatCount(site.document_count),
                                   is_exact ? " documents" : " documents or more");
  if (site.query.empty()) {
    const Element text(html, "span", {{"dir", "auto"}});
    html.TextElement("b", site.name);
    html.TextElement("span", count, {{"class", "number"}});
    return;
  }
  const Element link(html, "a",
                     {{"href", SearchPath(RequestForQuery(answer, site.query))},
                      {"dir", "auto"},
                      {"aria-label", label}});
  html.TextElement("b", site.name);
  html.TextElement("span", count, {{"class", "number"}});
}

void WriteSitesNote(MarkupWriter& html, const SiteFacets& facets) {
  std::string text = facets.note;
  if (facets.left_out_count > 0) {
    StrAppend(&text, text.empty() ? "" : " ", FormatCount(facets.left_out_count),
              facets.left_out_count == 1 ? " more site has" : " more sites have",
              " fewer documents each.");
  }
  if (!text.empty()) html.TextElement("p", text, {{"class", "sites-note"}});
}

void WriteRow(MarkupWriter& html, std::string_view part, std::string_view how, double score) {
  const Element row(html, "tr");
  html.TextElement("th", part, {{"scope", "row"}, {"dir", "auto"}});
  html.TextElement("td", how);
  html.TextElement("td", Number(score), {{"class", "number"}});
}

std::string PartOf(const ExplainedWord& word) {
  std::string part = word.word.empty() ? word.term : word.word;
  if (part != word.term) StrAppend(&part, " (", word.term, ")");
  if (word.title_only) part += ", in titles";
  return part;
}

std::string HowOf(const ExplainedWord& word) {
  if (word.document_count == 0) return "in no document of this part of the index";
  std::string how = StrCat("weight ", Number(word.weight), " (in ",
                           FormatCount(word.document_count), " documents)");
  if (word.occurrences != 1) StrAppend(&how, " × ", word.occurrences, " in the question");
  if (word.share < 1) StrAppend(&how, " × share ", Number(word.share));
  StrAppend(&how, " × saturation ", Number(word.saturation), " of frequency ",
            Number(word.weighted_frequency), ":");
  for (size_t field = 0; field < kExplainedFieldCount; ++field) {
    StrAppend(&how, field == 0 ? " " : ", ", kExplainedFields[field], " ", word.frequencies[field]);
  }
  return how;
}

void WriteGains(MarkupWriter& html, const ScoreExplanation& explanation) {
  if (!explanation.is_rated) return;
  const std::string_view lacks = explanation.lacks_positions ? ": the index has no positions" : "";
  WriteRow(html, "near each other", StrCat("words of the question side by side", lacks),
           explanation.proximity);
  WriteRow(html, "title", "share of the title that is the question", explanation.title);
  WriteRow(html, "early", StrCat("words at the beginning of the body", lacks), explanation.lead);
}

std::string LengthsOf(const ScoreExplanation& explanation) {
  std::string text = "Words of the document:";
  for (size_t i = 0; i < kExplainedFieldCount; ++i) {
    const ExplainedField& field = explanation.fields[i];
    StrAppend(&text, i == 0 ? " " : "; ", kExplainedFields[i], " ", Length(field.length),
              " of mean ", Length(field.mean_length), ", where one counts ", Number(field.weight));
  }
  return text + ".";
}

}  // namespace

void WriteSites(MarkupWriter& html, const SearchAnswer& answer) {
  if (answer.results.empty()) return;
  if (!answer.site_facets) {
    SearchPageRequest page = RequestOfPage(answer, answer.start);
    page.explain = answer.with_explanations;
    page.site_facets = true;
    const Element line(html, "p", {{"class", "more"}});
    html.TextElement("a", "Count the results by site", {{"href", SearchPath(page)}});
    return;
  }
  const SiteFacets& facets = *answer.site_facets;
  const Element nav(html, "nav", {{"class", "sites"}, {"aria-label", "Results by site"}});
  if (!facets.sites.empty()) {
    const Element list(html, "ul", {{"class", "chips"}});
    for (const SiteFacet& site : facets.sites) WriteSite(html, site, answer);
  }
  WriteSitesNote(html, facets);
}

// A way to and from the order by date. Offered where the question is about dates or languages,
// since most collections state none.
void WriteOrder(MarkupWriter& html, const SearchAnswer& answer) {
  const bool has_field = std::any_of(answer.narrowings.begin(), answer.narrowings.end(),
                                     [](const Narrowing& part) { return part.is_field; });
  if (answer.results.empty() || (!answer.by_date && !has_field)) return;
  SearchPageRequest other = RequestOfPage(answer, 0);
  other.by_date = !answer.by_date;
  other.explain = false;  // only scores are explained
  const Element line(html, "p", {{"class", "more"}});
  html.TextElement("a", answer.by_date ? "Order by relevance" : "Order by date",
                   {{"href", SearchPath(other)}});
}

void WriteExplanation(MarkupWriter& html, const SearchResult& result) {
  if (!result.explanation) return;
  const ScoreExplanation& explanation = *result.explanation;
  const Element details(html, "details", {{"class", "explanation"}});
  html.TextElement("summary", StrCat("Score ", Number(result.score)));
  WriteTable(html, StrCat("Score of result ", result.doc_id), {"Part", "How", "Score"}, [&] {
    WriteRow(html, "static rank", Number(explanation.static_rank), explanation.static_rank_score);
    for (const ExplainedWord& word : explanation.words) {
      WriteRow(html, PartOf(word), HowOf(word), word.score);
    }
    WriteGains(html, explanation);
    WriteRow(html, "sum", "", explanation.score);
  });
  html.TextElement("p", LengthsOf(explanation));
  if (!explanation.is_current) {
    html.TextElement("p",
                     "The document or the index has changed since the search, so the sum is "
                     "not the score of the result.");
  }
}

void WriteExplanationNote(MarkupWriter& html, const SearchAnswer& answer) {
  if (answer.results.empty() || answer.by_date) return;
  if (answer.with_explanations) {
    if (!answer.explanation_note.empty()) {
      html.TextElement("p", answer.explanation_note, {{"class", "explained"}});
    }
    return;
  }
  SearchPageRequest page = RequestOfPage(answer, answer.start);
  page.explain = true;
  const Element line(html, "p", {{"class", "explained"}});
  html.TextElement("a", "Explain the scores", {{"href", SearchPath(page)}, {"rel", "nofollow"}});
}

}  // namespace search::frontend
