#include "tools/search/terminal_page.h"

#include <cstdio>

#include "frontend/render/wording/address.h"
#include "frontend/render/wording/paging.h"
#include "frontend/render/wording/wording.h"
#include "neptune/base/strings.h"
#include "tools/search/wrapped_text.h"

namespace search::tools {
namespace {

using frontend::SearchAnswer;
using frontend::SearchResult;
using neptune::StrCat;

constexpr int kIndent = 5;

// Makes paragraphs of one width and colour setting.
class PageLines {
 public:
  explicit PageLines(const TerminalPageOptions& options) : options_(options) {}

  WrappedText Paragraph(int indent, int first_indent) const {
    return WrappedText({.width = options_.width,
                        .indent = indent,
                        .first_indent = first_indent,
                        .has_colours = options_.has_colours});
  }
  std::string Line(std::string_view text, TextStyle style, int indent = 0) const {
    WrappedText line = Paragraph(indent, indent);
    line.Add(text, style);
    return line.Take();
  }

 private:
  const TerminalPageOptions& options_;
};

// Address at which the result can be read.
std::string AddressOf(const SearchResult& result, const std::string& base_url) {
  if (frontend::IsWebAddress(result.url)) return result.url;
  const std::string copy = StrCat(base_url, frontend::CachedCopyPath(result.doc_id));
  if (result.url.empty()) return copy;
  std::string parts;
  for (const std::string& part : frontend::AddressParts(result.url)) {
    neptune::StrAppend(&parts, parts.empty() ? "" : " › ", part);
  }
  return StrCat(parts, " ", copy);
}

std::string SnippetLines(const SearchResult& result, const PageLines& lines) {
  if (!result.has_summary) {
    return lines.Line(result.title.empty()
                          ? "title and summary are missing: the document server did not answer"
                          : "the summary is missing: the document server did not answer",
                      TextStyle::kDim, kIndent);
  }
  if (result.snippet.empty()) return {};
  WrappedText snippet = lines.Paragraph(kIndent, kIndent);
  for (const frontend::TextPiece& piece : result.snippet) {
    snippet.Add(piece.text, piece.matches_query ? TextStyle::kMatch : TextStyle::kPlain);
  }
  return snippet.Take();
}

std::string Number(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.4f", value);
  return text;
}

// The score and its parts, as a sum.
std::string ExplanationLines(const SearchResult& result, const PageLines& lines) {
  if (!result.explanation) return {};
  const frontend::ScoreExplanation& parts = *result.explanation;
  std::string text = StrCat("score ", Number(result.score), parts.is_current ? " = " : " ≠ ",
                            Number(parts.static_rank_score), " rank");
  for (const frontend::ExplainedWord& word : parts.words) {
    neptune::StrAppend(&text, " + ", Number(word.score), " ", word.title_only ? "title:" : "",
                       word.term);
  }
  if (parts.is_rated) {
    neptune::StrAppend(&text, " + ", Number(parts.proximity), " proximity + ", Number(parts.title),
                       " of the title + ", Number(parts.lead), " lead");
  }
  return lines.Line(text, TextStyle::kDim, kIndent);
}

// The sites with their counts, the largest first.
std::string SiteLines(const SearchAnswer& answer, const PageLines& lines) {
  if (!answer.site_facets) return {};
  const frontend::SiteFacets& facets = *answer.site_facets;
  std::string text = "Sites: ";
  for (const frontend::SiteFacet& site : facets.sites) {
    neptune::StrAppend(&text, &site == &facets.sites.front() ? "" : ", ", site.name, " ",
                       facets.is_exact ? "" : "≥ ", frontend::FormatCount(site.document_count));
  }
  if (facets.sites.empty()) text += "none";
  if (facets.left_out_count > 0) {
    neptune::StrAppend(&text, ", and ", frontend::FormatCount(facets.left_out_count), " more");
  }
  std::string all = lines.Line(text, TextStyle::kPlain);
  if (!facets.note.empty()) all += lines.Line(facets.note, TextStyle::kDim);
  return all;
}

std::string ResultLines(const SearchResult& result, uint64_t number, const std::string& base_url,
                        const PageLines& lines) {
  const std::string label = StrCat(number, ".");
  WrappedText title = lines.Paragraph(kIndent, label.size() < 4 ? 4 - label.size() : 0);
  title.Add(label, TextStyle::kDim);
  title.Add(" ");
  title.Add(result.title.empty() ? StrCat("Document ", result.doc_id) : result.title,
            TextStyle::kTitle);
  const std::string address =
      StrCat(AddressOf(result, base_url), result.date.empty() ? "" : " · ", result.date);
  return StrCat(title.Take(), lines.Line(address, TextStyle::kAddress, kIndent),
                SnippetLines(result, lines), ExplanationLines(result, lines), "\n");
}

std::string MissingLines(const SearchAnswer& answer, const PageLines& lines) {
  if (answer.coverage.complete()) return {};
  std::string text = lines.Line("This answer is incomplete.", TextStyle::kWarning);
  for (const std::string& sentence : frontend::MissingSentences(answer.coverage)) {
    WrappedText item = lines.Paragraph(2, 0);
    item.Add("- ", TextStyle::kWarning);
    item.Add(sentence, TextStyle::kWarning);
    text += item.Take();
  }
  return text + "\n";
}

}  // namespace

std::string TerminalPage(const SearchAnswer& answer, const TerminalPageOptions& options) {
  const PageLines lines(options);
  std::string page = lines.Line(
      StrCat(frontend::Capitalised(frontend::RangeSentence(answer)), " for ", answer.query),
      TextStyle::kTitle);
  if (!answer.corrected_query.empty()) {
    page += lines.Line(StrCat("Showing results for: ", answer.corrected_query), TextStyle::kPlain);
    page += lines.Line(StrCat("--spell=false searches for: ", answer.query), TextStyle::kDim);
  } else if (!answer.did_you_mean.empty()) {
    page += lines.Line(StrCat("Did you mean: ", answer.did_you_mean), TextStyle::kPlain);
  }
  if (!answer.unmet_demands.empty()) {
    page += lines.Line(frontend::UnmetSentence(answer), TextStyle::kPlain);
    page += lines.Line("--relax=false insists on what is demanded.", TextStyle::kDim);
  }
  for (const frontend::Narrowing& narrowing : answer.narrowings) {
    const char* const positive = narrowing.is_field ? "Only: " : "Only site: ";
    page += lines.Line(StrCat(narrowing.is_exclusion ? "Without: " : positive, narrowing.text),
                       TextStyle::kPlain);
  }
  for (const std::string& note : answer.notes) page += lines.Line(note, TextStyle::kDim);
  for (const frontend::GivenUpWord& word : answer.given_up) {
    page += lines.Line(StrCat(word.word, " is missing in ", word.result_count,
                              " of these results; to demand it: ", word.demanding),
                       TextStyle::kDim);
  }
  page += SiteLines(answer, lines);
  if (!answer.explanation_note.empty()) {
    page += lines.Line(answer.explanation_note, TextStyle::kDim);
  }
  page += "\n";
  page += MissingLines(answer, lines);
  uint64_t number = answer.start;
  for (const SearchResult& result : answer.results) {
    page += ResultLines(result, ++number, options.base_url, lines);
  }
  page += lines.Line(frontend::Capitalised(frontend::CoverageSentence(answer)), TextStyle::kDim);
  if (const auto next = frontend::ComputePaging(answer).next) {
    page += lines.Line(StrCat("Next page: --start=", *next), TextStyle::kDim);
  }
  return page;
}

}  // namespace search::tools
