#include "index/core/query/relaxation.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "index/core/query/stop_words.h"
#include "index/core/query/tree_builder.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

using Kind = QueryNode::Kind;
using neptune::StrAppend;
using neptune::StrCat;

bool IsLeafOfWords(const QueryNode& node) {
  return node.kind == Kind::kTerm || node.kind == Kind::kPrefix || node.kind == Kind::kPhrase ||
         node.kind == Kind::kNear;
}

// True if some word outside exclusions adds to the score.
bool HasWords(const QueryNode& node) {
  if (IsLeafOfWords(node)) return true;
  return node.kind != Kind::kNot &&
         std::any_of(node.children.begin(), node.children.end(), HasWords);
}

bool HasUncommonWord(const Query& query) {
  for (const QueryNode* leaf : PositiveLeaves(query)) {
    if (leaf->kind == Kind::kPrefix) return true;
    if (leaf->kind == Kind::kTerm && !IsStopWord(leaf->folded)) return true;
    for (const PhraseTerm& word : leaf->phrase) {
      if (!IsStopWord(word.folded)) return true;
    }
  }
  return false;
}

// The words as typed, `separator` between them.
std::string Joined(const std::vector<PhraseTerm>& words, std::string_view separator) {
  std::string text;
  for (const PhraseTerm& word : words) {
    if (text.size() > kDemandSizeMax) return text + "…";
    StrAppend(&text, text.empty() ? "" : separator, word.surface);
  }
  return text;
}

std::string NameOf(const QueryNode& node);

std::string NameOfAll(const std::vector<QueryNode>& nodes, std::string_view separator) {
  std::string text;
  for (const QueryNode& node : nodes) {
    if (!HasWords(node) || !node.synonym_of.term.empty()) continue;
    if (text.size() > kDemandSizeMax) return text + "…";
    StrAppend(&text, text.empty() ? "" : separator, NameOf(node));
  }
  return text;
}

// What the user demands with the node.
std::string NameOf(const QueryNode& node) {
  const char* const field = IsLeafOfWords(node) && node.field == QueryField::kTitle ? "title:" : "";
  switch (node.kind) {
    case Kind::kTerm:
      return StrCat(field, node.surface);
    case Kind::kPrefix:
      return StrCat(field, node.surface, "*");
    case Kind::kPhrase:
      return StrCat(field, "\"", Joined(node.phrase, " "), "\"");
    case Kind::kNear:
      return StrCat(field, Joined(node.phrase, " NEAR "));
    case Kind::kAnd:
      return NameOfAll(node.children, " ");
    case Kind::kOr:
      return NameOfAll(node.children, " OR ");
    default:
      return "";
  }
}

class Relaxer {
 public:
  // `notes` outlives the relaxer.
  Relaxer(bool leaves_out_common_words, std::vector<std::string>* notes)
      : leaves_out_common_words_(leaves_out_common_words), builder_(notes) {}

  // Nullopt if nothing remains.
  std::optional<QueryNode> Relaxed(const QueryNode& node) {
    if (IsLeafOfWords(node)) return builder_.Or(WordsOf(node));
    if (node.kind == Kind::kOr) {
      std::vector<QueryNode> alternatives;
      for (const QueryNode& child : node.children) Append(Relaxed(child), &alternatives);
      return builder_.Or(std::move(alternatives));
    }
    if (node.kind != Kind::kAnd) return node;
    return RelaxedAnd(node);
  }

 private:
  static void Append(std::optional<QueryNode> node, std::vector<QueryNode>* nodes) {
    if (node.has_value()) nodes->push_back(*std::move(node));
  }

  // Filters and exclusions, and at the place of the first words a disjunction of all.
  std::optional<QueryNode> RelaxedAnd(const QueryNode& node) {
    std::vector<QueryNode> words;
    for (const QueryNode& child : node.children) {
      if (HasWords(child)) Append(Relaxed(child), &words);
    }
    std::optional<QueryNode> any = builder_.Or(std::move(words));
    // Common words with a filter, as an alternative of other words, would find all it lets through.
    const bool had_words = std::any_of(node.children.begin(), node.children.end(), HasWords);
    if (had_words && !any.has_value()) return std::nullopt;
    std::vector<Operand> operands;
    for (const QueryNode& child : node.children) {
      if (!HasWords(child)) {
        operands.push_back({.node = child});
      } else if (any.has_value()) {
        operands.push_back({.node = *std::move(any)});
        any.reset();
      }
    }
    std::optional<Operand> all = builder_.And(std::move(operands));
    if (!all.has_value()) return std::nullopt;
    return std::move(all->node);
  }

  std::vector<QueryNode> WordsOf(const QueryNode& leaf) const {
    std::vector<QueryNode> words;
    if (leaf.kind == Kind::kTerm || leaf.kind == Kind::kPrefix) {
      AddWord(leaf, leaf.folded, &words);
      return words;
    }
    for (const PhraseTerm& of_phrase : leaf.phrase) {
      QueryNode word;
      word.kind = Kind::kTerm;
      word.term = of_phrase.term;
      word.folded = of_phrase.folded;
      word.surface = of_phrase.surface;
      word.occurrences = leaf.occurrences;
      word.percent = leaf.percent;
      word.synonym_of = leaf.synonym_of;
      AddWord(std::move(word), of_phrase.folded, &words);
    }
    return words;
  }

  void AddWord(QueryNode word, std::string_view folded, std::vector<QueryNode>* words) const {
    const bool is_term = word.kind == Kind::kTerm;
    if (is_term && leaves_out_common_words_ && IsStopWord(folded)) return;
    word.field = QueryField::kAny;
    word.is_optional = false;
    word.is_exact = false;
    word.is_wanted = is_term && word.synonym_of.term.empty();
    words->push_back(std::move(word));
  }

  const bool leaves_out_common_words_;
  TreeBuilder builder_;
};

std::vector<std::string> DemandsOf(const QueryNode& root) {
  if (root.kind != Kind::kAnd) return {NameOf(root)};
  std::vector<std::string> demands;
  for (const QueryNode& child : root.children) {
    if (child.is_optional || !HasWords(child) || demands.size() == kDemandsMax) continue;
    demands.push_back(NameOf(child));
  }
  return demands;
}

}  // namespace

std::optional<Relaxation> Relax(const Query& query) {
  if (!HasWords(query.root)) return std::nullopt;
  Relaxation relaxed;
  relaxed.query.notes = query.notes;
  relaxed.query.parts = query.parts;
  Relaxer relaxer(HasUncommonWord(query), &relaxed.query.notes);
  std::optional<QueryNode> root = relaxer.Relaxed(query.root);
  if (!root.has_value() || *root == query.root) return std::nullopt;
  relaxed.query.root = *std::move(root);
  relaxed.demands = DemandsOf(query.root);
  return relaxed;
}

}  // namespace search::index
