#include "tools/corpus/page_reader.h"

#include <md4c-html.h>

#include <utility>

#include "index/html/utf8.h"
#include "neptune/base/utf8.h"
#include "tools/corpus/child_process.h"
#include "tools/corpus/corpus_document.h"
#include "tools/streams/byte_source.h"

namespace search::tools {
namespace {

using html::HtmlPage;
using neptune::StatusOr;

constexpr int64_t kMandocTimeMs = 10'000;

static_assert(html::HtmlPageLimits::kTextSizeMax <= CorpusLimits::kTextSizeMax &&
                  html::HtmlPageLimits::kTitleSizeMax <= CorpusLimits::kTitleSizeMax &&
                  html::HtmlPageLimits::kLinksMax <= CorpusLimits::kLinksMax &&
                  html::HtmlPageLimits::kHeadingsMax <= CorpusLimits::kHeadingsMax &&
                  html::HtmlPageLimits::kAnchorTextSizeMax <= CorpusLimits::kAnchorTextSizeMax,
              "a page fits a document of the corpus");

// The manual's text without the header and footer lines, which contain book and date.
std::string MarkMainPart(std::string html) {
  constexpr std::string_view kText = "<div class=\"manual-text\"";
  const size_t found = html.find(kText);
  if (found != std::string::npos) html.insert(found + kText.size(), " role=\"main\"");
  return html;
}

// "LS(1)" becomes "ls - list directory contents - LS(1)".
void AddNameLine(HtmlPage* page) {
  constexpr std::string_view kName = "NAME\n";
  if (!page->text.starts_with(kName)) return;
  const std::string_view rest = std::string_view(page->text).substr(kName.size());
  const std::string line(neptune::TruncateUtf8(rest.substr(0, rest.find('\n')), 200));
  if (!line.empty()) page->title = line + " - " + page->title;
}

StatusOr<HtmlPage> Parse(std::string_view bytes, PageKind kind, const NanosecondClock& clock) {
  switch (kind) {
    case PageKind::kMarkdown:
      return ReadMarkdown(bytes);
    case PageKind::kMan:
      return ReadManPage(bytes, clock);
    case PageKind::kHtml:
      break;
  }
  return html::ReadHtml(bytes);
}

}  // namespace

StatusOr<HtmlPage> ReadMarkdown(std::string_view markdown) {
  const std::string text = html::ReplaceInvalidUtf8(markdown.substr(0, html::kHtmlSizeMax));
  std::string page_html = "<!doctype html><body>";
  const auto append = [](const MD_CHAR* piece, MD_SIZE size, void* out) {
    static_cast<std::string*>(out)->append(piece, size);
  };
  const unsigned dialect = MD_DIALECT_GITHUB & ~static_cast<unsigned>(MD_FLAG_PERMISSIVEAUTOLINKS);
  if (md_html(text.data(), static_cast<MD_SIZE>(text.size()), append, &page_html, dialect, 0) !=
      0) {
    return neptune::ResourceExhausted("the Markdown parser failed");
  }
  NEPTUNE_ASSIGN_OR_RETURN(HtmlPage page, html::ReadHtml(page_html));
  page.is_cut |= markdown.size() > html::kHtmlSizeMax;
  return page;
}

StatusOr<HtmlPage> ReadManPage(std::string_view roff, const NanosecondClock& clock) {
  const ChildOptions options{.folder = "",
                             .input = roff,
                             .output_size_max = 4 * html::kHtmlSizeMax,
                             .time_ms_max = kMandocTimeMs};
  NEPTUNE_ASSIGN_OR_RETURN(const ChildResult result, RunChild({"mandoc", "-K", "utf-8", "-T",
                                                               "html", "-O", "man=../man%S/%N.%S"},
                                                              options, clock));
  // mandoc's status above 4 means that it could not read the page at all.
  if (result.exit_status > 4) {
    return neptune::InvalidArgument("mandoc failed with status ", result.exit_status, ": ",
                                    result.error_output.substr(0, 200));
  }
  NEPTUNE_ASSIGN_OR_RETURN(HtmlPage page, html::ReadHtml(MarkMainPart(result.output)));
  AddNameLine(&page);
  return page;
}

StatusOr<HtmlPage> ReadPage(const std::string& file, PageKind kind, const NanosecondClock& clock) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(file, 2 * html::kHtmlSizeMax));
  auto page = Parse(bytes, kind, clock);
  if (!page.ok()) return neptune::Annotate(page.status(), file);
  return page;
}

}  // namespace search::tools
