// AnyWordOf: converts running text into a disjunction of its words.

#include <algorithm>
#include <utility>
#include <vector>

#include "index/core/analysis/analyzer.h"
#include "index/core/query/query.h"
#include "index/core/query/stop_words.h"
#include "index/core/query/tree_builder.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

constexpr size_t kNamedStopWordsMax = 8;

bool IsCommon(const WordTerm& word) { return IsStopWord(word.folded); }

// Removes common words, if others remain, and says which.
void LeaveOutCommonWords(std::vector<WordTerm>* words, TreeBuilder* builder) {
  if (std::all_of(words->begin(), words->end(), IsCommon)) return;
  std::vector<std::string> names;
  for (const WordTerm& word : *words) {
    const bool is_known = std::find(names.begin(), names.end(), word.folded) != names.end();
    if (IsCommon(word) && !is_known) names.push_back(word.folded);
  }
  if (names.empty()) return;
  std::erase_if(*words, IsCommon);
  std::string named;
  for (size_t i = 0; i < std::min(names.size(), kNamedStopWordsMax); ++i) {
    neptune::StrAppend(&named, named.empty() ? "" : ", ", names[i]);
  }
  builder->Note(neptune::StrCat("Common words were left out: ", named,
                                names.size() > kNamedStopWordsMax ? " and more." : "."));
}

}  // namespace

neptune::StatusOr<Query> AnyWordOf(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.query_size_max) {
    return neptune::InvalidArgument("query: ", text.size(), " bytes, the text is too long at byte ",
                                    limits.query_size_max);
  }
  Analyzer analyzer(AnalyzerOptions::ForQueries());
  Query query;
  TreeBuilder builder(&query.notes);
  std::vector<WordTerm> words = analyzer.AnalyzeWords(text);
  LeaveOutCommonWords(&words, &builder);
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
    node.is_wanted = true;
  }
  query.root = builder.Root(builder.Or(std::move(nodes)));
  // The only word is in every page that is found.
  query.root.is_wanted = false;
  return query;
}

}  // namespace search::index
