// The guarantees of snippets hold for any text and any query, and analysing the whole text makes
// the same snippet. The input's first line is the query,
// the byte after it the size.

#include <glog/logging.h>

#include <cstdint>
#include <string_view>

#include "docserver/snippet/snippet.h"
#include "docserver/snippet/snippet_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using search::docserver::SnippetMaker;
  using search::docserver::SnippetOptions;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line_end = input.find('\n');
  if (line_end == std::string_view::npos || line_end + 1 >= size) return 0;
  const auto query = search::index::ParseQuery(input.substr(0, line_end));
  if (!query.ok()) return 0;
  const uint8_t choice = data[line_end + 1];
  const std::string_view text = input.substr(line_end + 2);
  const SnippetOptions options = {.size_max = choice, .passage_count_max = choice % 5u};
  const search::docserver::QueryTerms terms(*query);
  static SnippetMaker* const maker = new SnippetMaker;
  google::protobuf::RepeatedPtrField<search::docserver::SnippetPiece> pieces;
  maker->Make(text, terms, options, &pieces);
  CHECK_EQ(search::docserver::BrokenPromise(text, options, pieces), "");
  static SnippetMaker* const analysing =
      new SnippetMaker(search::docserver::MatchScan::Method::kAnalyseText);
  google::protobuf::RepeatedPtrField<search::docserver::SnippetPiece> expected;
  analysing->Make(text, terms, options, &expected);
  CHECK_EQ(search::docserver::Difference(pieces, expected), "");
  search::docserver::TextRanges ranges;
  maker->FindMatches(text, terms, choice, &ranges);
  CHECK_EQ(search::docserver::BrokenPromise(text, ranges), "");
  CHECK_LE(ranges.begins_size(), choice);
  return 0;
}
