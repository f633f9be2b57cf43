// For any bytes in the texts of an answer, the page and the feeds keep the skeleton they have with
// harmless text, and the JSON remains valid.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "frontend/render/render.h"
#include "frontend/render/samples/html_check.h"
#include "frontend/render/samples/samples.h"
#include "frontend/render/samples/xml_check.h"

namespace search::frontend {
namespace {

// The total size of texts is bounded because the checking parsers are slow.
constexpr size_t kTextSizeMax = 4096;

SearchAnswer AnswerSaying(const std::string& text) {
  SearchAnswer answer = samples::PartialAnswer();
  answer.query = "q" + text;
  answer.corrected_query = "c" + text;
  answer.unmet_demands = {text, "d" + text};
  answer.notes = {text};
  answer.narrowings = {{true, text, text}, {false, text, ""}};
  answer.with_explanations = true;
  answer.explanation_note = "n" + text;
  answer.site_facets = SiteFacets{.note = "n" + text};
  answer.site_facets->sites = {{.name = "s" + text, .query = "q" + text}};
  answer.results = {{.doc_id = "d" + text,
                     .url = "https://host.example/",
                     .title = "t" + text,
                     .site = "s" + text,
                     .snippet = {{text, false}, {text, true}}},
                    {.doc_id = "1", .url = "doc:" + text, .title = "t"}};
  answer.results[1].explanation = ScoreExplanation();
  answer.results[1].explanation->words = {{.term = "t" + text, .word = "w" + text}};
  answer.coverage.tiers[0].missing[0].reason = text;
  answer.coverage.tiers[0].implementation = "i" + text;
  // The address of the second result has as many parts as it has slashes: not in the HTML skeleton.
  return answer;
}

std::string Body(const SearchAnswer& answer, PageFormat format) {
  return RenderAnswer(answer, format, Site{}).body;
}

std::string FeedSkeleton(const SearchAnswer& answer, PageFormat format) {
  const auto document = XmlDocument::Parse(Body(answer, format));
  CHECK(document.ok()) << document.status();
  return (*document)->Skeleton();
}

void CheckAnswer(const std::string& text) {
  const SearchAnswer harmless = AnswerSaying("x");
  SearchAnswer answer = AnswerSaying(text);
  for (PageFormat format : {PageFormat::kRss, PageFormat::kAtom}) {
    static const std::string expected[] = {FeedSkeleton(harmless, PageFormat::kRss),
                                           FeedSkeleton(harmless, PageFormat::kAtom)};
    CHECK_EQ(FeedSkeleton(answer, format), expected[format == PageFormat::kAtom]);
  }
  CHECK(nlohmann::json::accept(Body(answer, PageFormat::kJson)));
  CHECK(HtmlProblems(Body(answer, PageFormat::kHtml)).empty());
  static const std::string expected_html = HtmlSkeleton(Body(harmless, PageFormat::kHtml));
  answer.results[1].url = "doc:x";
  CHECK_EQ(HtmlSkeleton(Body(answer, PageFormat::kHtml)), expected_html);
}

}  // namespace
}  // namespace search::frontend

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const size_t used = std::min(size, search::frontend::kTextSizeMax);
  search::frontend::CheckAnswer(std::string(reinterpret_cast<const char*>(data), used));
  return 0;
}
