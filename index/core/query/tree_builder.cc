#include "index/core/query/tree_builder.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"

namespace search::index {

namespace {

using Kind = QueryNode::Kind;
using neptune::StrAppend;

constexpr size_t kNoteCountMax = 16;
constexpr size_t kNamedStopWordsMax = 8;

bool IsPureExclusion(const QueryNode& node) {
  return node.kind == Kind::kNot ||
         (node.kind == Kind::kAnd && node.children.front().kind == Kind::kNot);
}

// REQUIRES: IsSameSet(from, *into).
void AddOccurrences(const QueryNode& from, QueryNode* into) {
  if (from.kind == Kind::kNot) return;
  if (from.kind == Kind::kTerm || from.kind == Kind::kPhrase) {
    into->occurrences += from.occurrences;
  }
  for (size_t i = 0; i < from.children.size(); ++i) {
    AddOccurrences(from.children[i], &into->children[i]);
  }
}

void ForgetOccurrences(QueryNode* node) {
  node->occurrences = 1;
  for (QueryNode& child : node->children) ForgetOccurrences(&child);
}

void AddDistinct(QueryNode node, std::vector<QueryNode>* nodes) {
  const auto known = std::find_if(nodes->begin(), nodes->end(),
                                  [&](const QueryNode& other) { return IsSameSet(node, other); });
  if (known == nodes->end()) {
    nodes->push_back(std::move(node));
  } else {
    AddOccurrences(node, &*known);
  }
}

// Returns a single node as it is, several as children of a node of that kind.
std::optional<QueryNode> Join(Kind kind, std::vector<QueryNode> nodes) {
  if (nodes.empty()) return std::nullopt;
  if (nodes.size() == 1) return std::move(nodes.front());
  QueryNode joined;
  joined.kind = kind;
  joined.children = std::move(nodes);
  return joined;
}

}  // namespace

void TreeBuilder::Note(std::string note) {
  if (notes_->size() >= kNoteCountMax) return;
  if (std::find(notes_->begin(), notes_->end(), note) == notes_->end()) {
    notes_->push_back(std::move(note));
  }
}

void TreeBuilder::LeaveOutStopWords(std::vector<Operand>* operands) {
  const auto decides = [](const Operand& operand) {
    return !operand.is_stop_word && operand.node.kind != Kind::kSite &&
           !IsPureExclusion(operand.node);
  };
  if (std::none_of(operands->begin(), operands->end(), decides)) return;
  std::string words;
  size_t count = 0;
  for (const Operand& operand : *operands) {
    if (!operand.is_stop_word || ++count > kNamedStopWordsMax) continue;
    StrAppend(&words, words.empty() ? "" : ", ", operand.node.folded);
  }
  if (count == 0) return;
  std::erase_if(*operands, [](const Operand& operand) { return operand.is_stop_word; });
  Note(neptune::StrCat("Common words were left out: ", words,
                       count > kNamedStopWordsMax ? " and more" : "",
                       ". Put + before a word to require it."));
}

std::optional<QueryNode> TreeBuilder::And(std::vector<Operand> operands) {
  LeaveOutStopWords(&operands);
  std::vector<QueryNode> wanted;
  std::vector<QueryNode> excluded;
  const auto add = [&](QueryNode node) {
    const bool is_exclusion = node.kind == Kind::kNot;
    AddDistinct(std::move(node), is_exclusion ? &excluded : &wanted);
  };
  for (Operand& operand : operands) {
    if (operand.node.kind == Kind::kAnd) {
      for (QueryNode& child : operand.node.children) add(std::move(child));
    } else {
      add(std::move(operand.node));
    }
  }
  std::move(excluded.begin(), excluded.end(), std::back_inserter(wanted));
  return Join(Kind::kAnd, std::move(wanted));
}

std::optional<QueryNode> TreeBuilder::Or(std::vector<QueryNode> alternatives) {
  if (alternatives.size() == 1) return std::move(alternatives.front());
  std::vector<QueryNode> distinct;
  for (QueryNode& alternative : alternatives) {
    if (IsPureExclusion(alternative)) {
      Note("An exclusion cannot be an alternative of OR and was left out.");
    } else if (alternative.kind == Kind::kOr) {
      for (QueryNode& child : alternative.children) AddDistinct(std::move(child), &distinct);
    } else {
      AddDistinct(std::move(alternative), &distinct);
    }
  }
  return Join(Kind::kOr, std::move(distinct));
}

QueryNode TreeBuilder::Not(QueryNode node) {
  ForgetOccurrences(&node);
  if (node.kind == Kind::kNot) {
    QueryNode child = std::move(node.children.front());
    return child;
  }
  if (IsPureExclusion(node)) {  // not (not a and not b) = a or b
    std::vector<QueryNode> wanted;
    for (QueryNode& child : node.children) wanted.push_back(std::move(child.children.front()));
    return *Or(std::move(wanted));
  }
  QueryNode exclusion;
  exclusion.kind = Kind::kNot;
  exclusion.children.push_back(std::move(node));
  return exclusion;
}

QueryNode TreeBuilder::Root(std::optional<QueryNode> node) {
  if (!node.has_value()) return {};
  if (IsPureExclusion(*node)) {
    Note("The query has only exclusions; add a word to search for.");
    return {};
  }
  return *std::move(node);
}

}  // namespace search::index
