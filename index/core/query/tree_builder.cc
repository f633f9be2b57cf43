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

bool IsScoringLeaf(const QueryNode& node) {
  return node.kind == Kind::kTerm || node.kind == Kind::kPrefix || node.kind == Kind::kPhrase ||
         node.kind == Kind::kNear;
}

// REQUIRES: IsSameSet(from, *into).
void AddOccurrences(const QueryNode& from, QueryNode* into) {
  if (from.kind == Kind::kNot) return;
  if (IsScoringLeaf(from)) {
    into->occurrences += from.occurrences;
    into->percent = std::max(into->percent, from.percent);
    into->is_exact |= from.is_exact;
  }
  for (size_t i = 0; i < from.children.size(); ++i) {
    AddOccurrences(from.children[i], &into->children[i]);
  }
}

void ForgetOccurrences(QueryNode* node) {
  node->occurrences = 1;
  node->percent = 100;
  for (QueryNode& child : node->children) ForgetOccurrences(&child);
}

// True if some positive leaf scores; otherwise the node only filters.
bool HasWords(const QueryNode& node) {
  if (IsScoringLeaf(node)) return true;
  return node.kind != Kind::kNot &&
         std::any_of(node.children.begin(), node.children.end(), HasWords);
}

void ForgetWanted(QueryNode* node) {
  node->is_wanted = false;
  for (QueryNode& child : node->children) ForgetWanted(&child);
}

// Appends the words and prefixes of the node outside exclusions, those of phrases one by one.
void AppendWords(QueryNode node, std::vector<QueryNode>* words) {
  if (node.kind == Kind::kNot) return;
  if (node.kind == Kind::kTerm || node.kind == Kind::kPrefix) words->push_back(node);
  for (PhraseTerm& of_phrase : node.phrase) {
    QueryNode& word = words->emplace_back();
    word.kind = Kind::kTerm;
    word.field = node.field;
    word.term = std::move(of_phrase.term);
    word.folded = std::move(of_phrase.folded);
    word.surface = std::move(of_phrase.surface);
    word.occurrences = node.occurrences;
    word.percent = node.percent;
    word.is_exact = node.is_exact;
    word.synonym_of = node.synonym_of;
  }
  for (QueryNode& child : node.children) AppendWords(std::move(child), words);
}

// A word that the user wrote, and that is also a synonym, is the user's.
void AdoptOrigin(const QueryNode& from, QueryNode* into) {
  const bool is_of_user = into->synonym_of.term.empty();
  if (!from.synonym_of.term.empty()) return;
  into->is_wanted = from.is_wanted && (into->is_wanted || !is_of_user);
  into->synonym_of = {};
  if (!is_of_user) into->surface = from.surface;
}

void AddDistinct(QueryNode node, std::vector<QueryNode>* nodes) {
  const auto known = std::find_if(nodes->begin(), nodes->end(),
                                  [&](const QueryNode& other) { return IsSameSet(node, other); });
  if (known == nodes->end()) {
    nodes->push_back(std::move(node));
  } else {
    AddOccurrences(node, &*known);
    known->is_optional = known->is_optional && node.is_optional;
    AdoptOrigin(node, &*known);
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
    return !operand.is_stop_word && HasWords(operand.node) && !IsPureExclusion(operand.node);
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

// Replaces the wanted operands by what the demanded ones make of them.
void TreeBuilder::ResolveWanted(std::vector<Operand>* operands) {
  bool has_demanded = false;
  for (Operand& operand : *operands) {
    const bool is_exclusion = IsPureExclusion(operand.node);
    operand.is_wanted = operand.is_wanted && !is_exclusion && HasWords(operand.node);
    has_demanded |= !operand.is_wanted && !is_exclusion && HasWords(operand.node);
  }
  if (!has_demanded) return JoinWanted(operands);
  std::vector<Operand> resolved;
  for (Operand& operand : *operands) {
    if (!operand.is_wanted) {
      resolved.push_back(std::move(operand));
      continue;
    }
    const bool is_word = operand.is_compound || operand.node.kind == Kind::kTerm;
    std::vector<QueryNode> words;
    AppendWords(std::move(operand.node), &words);
    for (QueryNode& word : words) {
      word.is_optional = true;
      word.is_wanted =
          word.kind == Kind::kTerm && word.synonym_of.term.empty() && (is_word || word.is_wanted);
      resolved.push_back({.node = std::move(word)});
    }
  }
  *operands = std::move(resolved);
}

// Makes several wanted operands one demanded disjunction at the place of the first.
void TreeBuilder::JoinWanted(std::vector<Operand>* operands) {
  const auto is_wanted = [](const Operand& operand) { return operand.is_wanted; };
  if (std::count_if(operands->begin(), operands->end(), is_wanted) < 2) return;
  const auto first = std::find_if(operands->begin(), operands->end(), is_wanted);
  std::vector<QueryNode> alternatives;
  for (auto operand = first; operand != operands->end(); ++operand) {
    if (!operand->is_wanted) continue;
    std::vector<QueryNode> nodes;
    if (operand->is_compound) {
      AppendWords(std::move(operand->node), &nodes);
    } else {
      nodes.push_back(std::move(operand->node));
    }
    for (QueryNode& node : nodes) {
      node.is_wanted = node.kind == Kind::kTerm;  // words of a bracket are marked already
      alternatives.push_back(std::move(node));
    }
  }
  first->node = *Or(std::move(alternatives));
  first->is_wanted = false;
  std::erase_if(*operands, is_wanted);
}

std::optional<Operand> TreeBuilder::And(std::vector<Operand> operands) {
  LeaveOutStopWords(&operands);
  const bool is_wanted = std::all_of(operands.begin(), operands.end(),
                                     [](const Operand& operand) { return operand.is_wanted; });
  const bool is_compound = operands.size() == 1 && operands.front().is_compound;
  ResolveWanted(&operands);
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
  std::optional<QueryNode> node = Join(Kind::kAnd, std::move(wanted));
  if (!node.has_value()) return std::nullopt;
  return Operand{.node = *std::move(node), .is_wanted = is_wanted, .is_compound = is_compound};
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

std::optional<Operand> TreeBuilder::OrOfUser(std::vector<Operand> alternatives) {
  if (alternatives.empty()) return std::nullopt;
  if (alternatives.size() == 1) return std::move(alternatives.front());
  bool is_wanted = true;
  std::vector<QueryNode> nodes;
  for (Operand& alternative : alternatives) {
    // Or leaves exclusions out.
    is_wanted = is_wanted && (alternative.is_wanted || IsPureExclusion(alternative.node));
    ForgetWanted(&alternative.node);
    nodes.push_back(std::move(alternative.node));
  }
  std::optional<QueryNode> node = Or(std::move(nodes));
  if (!node.has_value()) return std::nullopt;
  return Operand{.node = *std::move(node), .is_wanted = is_wanted};
}

std::optional<QueryNode> TreeBuilder::Near(const QueryNode& left, const QueryNode& right,
                                           uint32_t distance) {
  const bool joins_words = (left.kind == Kind::kTerm || left.kind == Kind::kNear) &&
                           right.kind == Kind::kTerm && left.field == right.field;
  if (!joins_words) return std::nullopt;
  QueryNode near;
  near.kind = Kind::kNear;
  near.field = left.field;
  near.distance = std::max(distance, left.distance);
  near.percent = std::min(left.percent, right.percent);
  near.is_exact = true;
  near.phrase = left.phrase;
  if (left.kind == Kind::kTerm) {
    near.phrase.push_back({.term = left.term, .folded = left.folded, .surface = left.surface});
  }
  for (const PhraseTerm& word : near.phrase) {
    if (word.term == right.term) return std::nullopt;
  }
  near.phrase.push_back({.term = right.term,
                         .position = static_cast<uint32_t>(near.phrase.size()),
                         .folded = right.folded,
                         .surface = right.surface});
  return near;
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
