// AnyWordOf: converts running text into a disjunction of its words.

#include <algorithm>
#include <utility>

#include "index/core/analysis/analyzer.h"
#include "index/core/query/query.h"
#include "index/core/query/stop_words.h"
#include "index/core/query/tree_builder.h"

namespace search::index {

neptune::StatusOr<Query> AnyWordOf(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.query_size_max) {
    return neptune::InvalidArgument("query: ", text.size(), " bytes, the text is too long at byte ",
                                    limits.query_size_max);
  }
  Analyzer analyzer(AnalyzerOptions::ForQueries());
  std::vector<WordTerm> words = analyzer.AnalyzeWords(text);
  const auto is_common = [](const WordTerm& word) { return IsStopWord(word.folded); };
  if (!std::all_of(words.begin(), words.end(), is_common)) std::erase_if(words, is_common);
  if (words.size() > limits.term_count_max) {
    return neptune::InvalidArgument("query: ", words.size(), " words, at most ",
                                    limits.term_count_max, " are allowed");
  }
  std::vector<QueryNode> nodes;
  for (WordTerm& word : words) {
    QueryNode& node = nodes.emplace_back();
    node.kind = QueryNode::Kind::kTerm;
    node.term = std::move(word.term);
    node.folded = std::move(word.folded);
    node.surface = std::move(word.surface);
  }
  Query query;
  TreeBuilder builder(&query.notes);
  query.root = builder.Root(builder.Or(std::move(nodes)));
  return query;
}

}  // namespace search::index
