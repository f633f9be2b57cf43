#include "tools/bench_index/game_query.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "index/core/analysis/analyzer.h"

namespace search::tools {
namespace {

using index::Query;
using index::QueryNode;

constexpr size_t kLongUnionWordsMin = 3;
constexpr size_t kLongUnionWordsMax = 10;

// A part of the text: its sign (0 if none) and the text after it, without quotation marks.
struct Part {
  char sign = 0;
  bool is_quoted = false;
  std::string_view text;
};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Takes the next part off `*text`; false at its end.
bool NextPart(std::string_view* text, Part* part) {
  while (!text->empty() && IsBlank(text->front())) text->remove_prefix(1);
  if (text->empty()) return false;
  *part = Part();
  if (text->front() == '+' || text->front() == '-') {
    part->sign = text->front();
    text->remove_prefix(1);
  }
  part->is_quoted = !text->empty() && text->front() == '"';
  if (part->is_quoted) text->remove_prefix(1);
  size_t size = 0;
  const auto ends = [&](char c) { return part->is_quoted ? c == '"' : IsBlank(c); };
  while (size < text->size() && !ends((*text)[size])) ++size;
  part->text = text->substr(0, size);
  text->remove_prefix(std::min(text->size(), size + (part->is_quoted ? 1 : 0)));
  return true;
}

QueryNode NodeOf(std::vector<index::WordTerm> words) {
  QueryNode node;
  if (words.size() == 1) {
    node.kind = QueryNode::Kind::kTerm;
    node.term = std::move(words[0].term);
  } else if (words.size() > 1) {
    node.kind = QueryNode::Kind::kPhrase;
    for (index::WordTerm& word : words) {
      node.phrase.push_back({.term = std::move(word.term), .position = word.position});
    }
  }
  return node;
}

void AddOnce(QueryNode node, std::vector<QueryNode>* nodes) {
  if (std::find(nodes->begin(), nodes->end(), node) == nodes->end()) {
    nodes->push_back(std::move(node));
  }
}

// The group, or its only member. REQUIRES: at least one.
QueryNode Group(QueryNode::Kind kind, std::vector<QueryNode> children) {
  if (children.size() == 1) return std::move(children[0]);
  QueryNode node;
  node.kind = kind;
  node.children = std::move(children);
  return node;
}

struct Parts {
  std::vector<QueryNode> required;
  std::vector<QueryNode> optional;
  std::vector<QueryNode> excluded;
};

Parts ReadParts(std::string_view text) {
  index::AnalyzerOptions options = index::AnalyzerOptions::ForQueries();
  options.words = index::WordRule::kAsciiRuns;
  index::Analyzer analyzer(options);
  Parts parts;
  Part part;
  while (NextPart(&text, &part)) {
    QueryNode node = NodeOf(analyzer.AnalyzeWord(part.text));
    if (node.kind == QueryNode::Kind::kNothing) continue;
    if (part.sign == '+') {
      AddOnce(std::move(node), &parts.required);
    } else if (part.sign == '-') {
      AddOnce(std::move(node), &parts.excluded);
    } else {
      AddOnce(std::move(node), &parts.optional);
    }
  }
  return parts;
}

}  // namespace

Query ParseGameQuery(std::string_view text) {
  Parts parts = ReadParts(text);
  Query query;
  std::vector<QueryNode> all;
  if (parts.required.empty()) {
    if (parts.optional.empty()) return query;
    all.push_back(Group(QueryNode::Kind::kOr, std::move(parts.optional)));
  } else {
    all = parts.required;
    // `a AND (a OR b)` matches the same documents as `a`, and `b` only scores; do not repeat `a`.
    if (!parts.optional.empty()) {
      QueryNode implied = parts.required[0];
      implied.occurrences = 0;
      parts.optional.insert(parts.optional.begin(), std::move(implied));
      std::vector<QueryNode> alternatives;
      for (QueryNode& node : parts.optional) AddOnce(std::move(node), &alternatives);
      all.push_back(Group(QueryNode::Kind::kOr, std::move(alternatives)));
    }
  }
  for (QueryNode& node : parts.excluded) {
    QueryNode exclusion;
    exclusion.kind = QueryNode::Kind::kNot;
    exclusion.children.push_back(std::move(node));
    all.push_back(std::move(exclusion));
  }
  query.root = Group(QueryNode::Kind::kAnd, std::move(all));
  return query;
}

QueryClass ClassOf(std::string_view text) {
  const auto quotes = std::count(text.begin(), text.end(), '"');
  if (quotes == 2 && text.front() == '"' && text.back() == '"') return QueryClass::kPhrase;
  if (quotes > 0) return QueryClass::kMixed;
  size_t count = 0;
  size_t required = 0;
  Part part;
  bool is_negated = false;
  while (NextPart(&text, &part)) {
    ++count;
    required += part.sign == '+' ? 1 : 0;
    is_negated = is_negated || part.sign == '-';
  }
  if (is_negated) return QueryClass::kNegated;
  if (count <= 1) return QueryClass::kTerm;
  if (required == 0) return QueryClass::kUnion;
  return required == count ? QueryClass::kIntersection : QueryClass::kMixed;
}

std::vector<QueryClass> ClassesOf(std::string_view text) {
  const QueryClass query_class = ClassOf(text);
  if (query_class != QueryClass::kUnion) return {query_class};
  std::set<std::string_view> words;
  Part part;
  while (NextPart(&text, &part)) words.insert(part.text);
  const bool is_long = words.size() >= kLongUnionWordsMin && words.size() <= kLongUnionWordsMax;
  if (!is_long) return {query_class};
  return {query_class, QueryClass::kLongUnion};
}

std::string_view NameOf(QueryClass query_class) {
  constexpr std::string_view kNames[kQueryClassCount] = {
      "term", "intersection", "union", "union 3-10", "phrase", "mixed", "negated"};
  return kNames[static_cast<int>(query_class)];
}

}  // namespace search::tools
