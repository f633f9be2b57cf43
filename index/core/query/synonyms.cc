#include "index/core/query/synonyms.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "index/core/query/tree_builder.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

using Kind = QueryNode::Kind;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Takes the text up to the separator from *rest, or all of it.
std::string_view TakeUntil(char separator, std::string_view* rest) {
  const size_t end = std::min(rest->find(separator), rest->size());
  const std::string_view taken = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return taken;
}

// The percent of a share such as `0.6`; 0 if it is none.
uint32_t PercentOf(std::string_view share) {
  if (share.size() < 3 || share.size() > 4 || !share.starts_with("0.")) return 0;
  uint32_t percent = 0;
  for (size_t i = 2; i < share.size(); ++i) {
    if (share[i] < '0' || share[i] > '9') return 0;
    percent += static_cast<uint32_t>(share[i] - '0') * (i == 2 ? 10 : 1);
  }
  return percent;
}

// The word's leaf; nullopt if it is not one word or phrase.
std::optional<QueryNode> LeafOf(std::string_view word) {
  if (word.find('"') != std::string_view::npos) return std::nullopt;
  StatusOr<Query> query = ParseQuery(StrCat("\"", word, "\""));
  if (!query.ok() || (query->root.kind != Kind::kTerm && query->root.kind != Kind::kPhrase)) {
    return std::nullopt;
  }
  return std::move(query->root);
}

bool IsLeaf(const QueryNode& node) {
  return node.kind == Kind::kTerm || node.kind == Kind::kPhrase;
}

// The leaf's key: its canonical text, whatever its field, occurrences and share, and whether it is
// optional.
std::string KeyOf(const QueryNode& leaf) {
  Query query;
  query.root = leaf;
  query.root.field = QueryField::kAny;
  query.root.occurrences = 1;
  query.root.percent = 100;
  query.root.is_optional = false;
  return Canonical(query);
}

// Words that the canonical text of the node contains.
size_t WordCount(const QueryNode& node) {
  size_t count = node.phrase.empty() && node.children.empty() ? 1 : node.phrase.size();
  if (node.kind == Kind::kPrefix) count = kPrefixWordCount;
  count *= node.occurrences;
  for (const QueryNode& child : node.children) count += WordCount(child);
  return count;
}

std::string SurfaceOf(const QueryNode& leaf) {
  if (leaf.kind == Kind::kTerm) return leaf.surface;
  std::string text;
  for (const PhraseTerm& word : leaf.phrase) {
    neptune::StrAppend(&text, text.empty() ? "" : " ", word.surface);
  }
  return text;
}

}  // namespace

class SynonymSets::Expander {
 public:
  Expander(const SynonymSets& sets, Query* query)
      : sets_(sets), builder_(&query->notes), word_count_(WordCount(query->root)) {}

  QueryNode Expand(QueryNode node) {
    Keys keys;
    if (IsLeaf(node)) return WithSynonyms(std::move(node), &keys);
    for (const QueryNode& child : node.children) {
      if (IsLeaf(child)) keys.insert(FieldKeyOf(child));
    }
    if (node.kind == Kind::kAnd) return ExpandAnd(std::move(node), std::move(keys));
    if (node.kind == Kind::kOr) return ExpandOr(std::move(node), std::move(keys));
    return node;
  }

 private:
  // Words beside each other, which are not added as synonyms of one another.
  using Keys = std::set<std::string>;

  static std::string FieldKeyOf(const QueryNode& leaf) {
    return (leaf.field == QueryField::kTitle ? "title " : "any ") + KeyOf(leaf);
  }

  // Beside optional words their synonyms are optional too.
  QueryNode ExpandAnd(QueryNode node, Keys keys) {
    std::vector<Operand> operands;
    for (QueryNode& child : node.children) {
      if (!IsLeaf(child)) {
        operands.push_back(
            {.node = child.is_optional ? std::move(child) : Expand(std::move(child))});
      } else if (child.is_optional) {
        std::vector<QueryNode> synonyms = SynonymsOf(child, &keys);
        operands.push_back({.node = std::move(child)});
        for (QueryNode& synonym : synonyms) {
          operands.push_back({.node = std::move(synonym), .is_wanted = true});
        }
      } else {
        Keys own = keys;  // each demanded word has all of its alternatives
        operands.push_back({.node = WithSynonyms(std::move(child), &own)});
      }
    }
    return std::move(builder_.And(std::move(operands))->node);
  }

  QueryNode ExpandOr(QueryNode node, Keys keys) {
    std::vector<QueryNode> alternatives;
    for (QueryNode& child : node.children) {
      alternatives.push_back(IsLeaf(child) ? WithSynonyms(std::move(child), &keys)
                                           : Expand(std::move(child)));
    }
    return *builder_.Or(std::move(alternatives));
  }

  QueryNode WithSynonyms(QueryNode leaf, Keys* keys) {
    std::vector<QueryNode> alternatives = SynonymsOf(leaf, keys);
    if (alternatives.empty()) return leaf;
    alternatives.insert(alternatives.begin(), std::move(leaf));
    return *builder_.Or(std::move(alternatives));
  }

  // The leaf's synonyms that are not in *keys, which receives them.
  std::vector<QueryNode> SynonymsOf(const QueryNode& leaf, Keys* keys) {
    const Set* const set = leaf.is_exact ? nullptr : sets_.Find(leaf);
    if (set == nullptr) return {};
    keys->insert(FieldKeyOf(leaf));
    std::vector<QueryNode> synonyms;
    std::string names;
    for (size_t i = 0; i < set->words.size(); ++i) {
      QueryNode synonym = set->words[i];
      synonym.field = leaf.field;
      synonym.occurrences = leaf.occurrences;
      synonym.percent = set->percent;
      synonym.synonym_of = {leaf.kind == Kind::kTerm ? leaf.term : KeyOf(leaf),
                            static_cast<uint32_t>(i)};
      const size_t count = WordCount(synonym);
      if (word_count_ + count > ParseLimits().term_count_max) continue;
      if (!keys->insert(FieldKeyOf(synonym)).second) continue;
      word_count_ += count;
      neptune::StrAppend(&names, names.empty() ? "“" : ", “", SurfaceOf(synonym), "”");
      synonyms.push_back(std::move(synonym));
    }
    if (synonyms.empty()) return {};
    builder_.Note(StrCat("Also searched for ", names, ", for “", SurfaceOf(leaf),
                         "”. Quotation marks ask for the word alone."));
    return synonyms;
  }

  const SynonymSets& sets_;
  TreeBuilder builder_;
  size_t word_count_;
};

StatusOr<SynonymSets> SynonymSets::Parse(std::string_view text) {
  if (text.size() > kSynonymFileSizeMax) {
    return InvalidArgument("synonyms: ", text.size(), " bytes, more than ", kSynonymFileSizeMax);
  }
  SynonymSets sets;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = TakeUntil('\n', &text);
    line = Trimmed(TakeUntil('#', &line));
    if (!line.empty()) NEPTUNE_RETURN_IF_ERROR(sets.AddLine(line, number));
  }
  return sets;
}

Status SynonymSets::AddLine(std::string_view line, size_t number) {
  const bool has_share = line.find(':') != std::string_view::npos;
  Set set{.percent = has_share ? PercentOf(Trimmed(TakeUntil(':', &line))) : 0, .words = {}};
  if (set.percent == 0) {
    return InvalidArgument("synonyms: line ", number, ": expected a share, 0.01 to 0.99, and ':'");
  }
  while (!line.empty()) {
    const std::string_view word = Trimmed(TakeUntil(',', &line));
    std::optional<QueryNode> leaf = LeafOf(word);
    if (!leaf.has_value()) {
      return InvalidArgument("synonyms: line ", number, ": '", word, "' is not a word or phrase");
    }
    if (!set_of_.try_emplace(KeyOf(*leaf), sets_.size()).second) {
      return InvalidArgument("synonyms: line ", number, ": '", word, "' occurs a second time");
    }
    set.words.push_back(*std::move(leaf));
  }
  if (set.words.size() < 2 || set.words.size() > kSynonymSetSizeMax) {
    return InvalidArgument("synonyms: line ", number, ": ", set.words.size(),
                           " words, expected 2 to ", kSynonymSetSizeMax);
  }
  sets_.push_back(std::move(set));
  return neptune::OkStatus();
}

const SynonymSets::Set* SynonymSets::Find(const QueryNode& leaf) const {
  const auto found = set_of_.find(KeyOf(leaf));
  return found == set_of_.end() ? nullptr : &sets_[found->second];
}

void SynonymSets::Expand(Query* query) const {
  if (sets_.empty()) return;
  query->root = Expander(*this, query).Expand(std::move(query->root));
}

}  // namespace search::index
