#include "index/core/search/flat_plan.h"

#include <algorithm>

namespace search::index {
namespace {

using Role = FlatPlan::Role;

class Flattener {
 public:
  explicit Flattener(const QueryPlan& plan) : unclaimed_(plan.scoring) {}

  // False if the plan has no flat form.
  bool AddRoot(const PlanNode& root) {
    if (root.kind == PlanNode::Kind::kOr) return AddAlternatives(root);
    if (root.kind != PlanNode::Kind::kAnd) return AddRequired(root);
    size_t disjunction_count = 0;
    for (const PlanNode& child : root.children) {
      if (child.kind != PlanNode::Kind::kOr && !AddRequired(child)) return false;
    }
    for (const PlanNode& child : root.children) {
      if (child.kind != PlanNode::Kind::kOr) continue;
      if (++disjunction_count > 1 || !AddAlternatives(child)) return false;
    }
    return std::all_of(root.excluded.begin(), root.excluded.end(), [this](const PlanNode& node) {
      return IsWord(node) && (Add(node.leaves[0], Role::kExcluded), true);
    });
  }

  FlatPlan Finish() {
    // Adds words that only contribute to scores, such as those of a branch that cannot match.
    while (!unclaimed_.empty()) {
      const PlanLeaf leaf = unclaimed_.front();
      Add(leaf, Role::kOptional);
    }
    return std::move(flat_);
  }

  bool only_plain_words() const {
    return std::none_of(unclaimed_.begin(), unclaimed_.end(),
                        [](const PlanLeaf& leaf) { return leaf.title_only; });
  }

 private:
  static bool IsWord(const PlanNode& node) {
    return node.kind == PlanNode::Kind::kLeaf && !node.leaves[0].title_only;
  }

  bool AddRequired(const PlanNode& node) {
    if (node.leaves.empty() || node.leaves[0].title_only) return false;
    FlatPlan::Phrase phrase{.words = {}, .positions = node.positions, .distance = node.distance};
    for (const PlanLeaf& leaf : node.leaves) phrase.words.push_back(Add(leaf, Role::kRequired));
    if (node.kind == PlanNode::Kind::kPhrase) flat_.phrases.push_back(std::move(phrase));
    return true;
  }

  bool AddAlternatives(const PlanNode& node) {
    const auto is_phrase = [](const PlanNode& child) {
      return child.kind == PlanNode::Kind::kPhrase && !child.leaves[0].title_only;
    };
    if (!std::all_of(node.children.begin(), node.children.end(),
                     [&](const PlanNode& child) { return IsWord(child) || is_phrase(child); })) {
      return false;
    }
    for (const PlanNode& child : node.children) {
      // If one of the alternatives is a required word, the condition always holds and the others
      // only add to scores.
      if (IsWord(child) && FindRequired(child.leaves[0]) != flat_.words.size()) return true;
    }
    for (const PlanNode& child : node.children) {
      if (IsWord(child)) flat_.any_of.words.push_back(Add(child.leaves[0], Role::kAlternative));
    }
    return std::all_of(node.children.begin(), node.children.end(), [&](const PlanNode& child) {
      return IsWord(child) || AddPhraseAlternative(child);
    });
  }

  // True if some word of the phrase is an alternative by itself, so that the phrase adds nothing.
  bool IsSettled(const PlanNode& phrase) const {
    return std::any_of(phrase.leaves.begin(), phrase.leaves.end(), [this](const PlanLeaf& leaf) {
      const auto& words = flat_.any_of.words;
      return std::any_of(words.begin(), words.end(),
                         [&](uint32_t i) { return flat_.words[i].leaf == leaf; });
    });
  }

  // False if the documents with the phrase's words cannot be found by one that is not required.
  bool AddPhraseAlternative(const PlanNode& node) {
    if (IsSettled(node)) return true;
    const PlanLeaf* lead = nullptr;
    for (const PlanLeaf& leaf : node.leaves) {
      const bool is_rarer =
          lead == nullptr || leaf.entry.document_frequency < lead->entry.document_frequency;
      if (is_rarer && FindRequired(leaf) == flat_.words.size()) lead = &leaf;
    }
    if (lead == nullptr) return false;
    FlatPlan::Phrase phrase{.words = {}, .positions = node.positions, .distance = node.distance};
    for (const PlanLeaf& leaf : node.leaves) phrase.words.push_back(AddOnce(leaf));
    FlatPlan::Word& word = flat_.words[AddOnce(*lead)];
    word.role = Role::kAlternative;
    word.is_lead = true;
    flat_.any_of.phrases.push_back(std::move(phrase));
    return true;
  }

  // Index of the word in any role but as an excluded one; an optional word if it is new.
  uint32_t AddOnce(const PlanLeaf& leaf) {
    for (size_t i = 0; i < flat_.words.size(); ++i) {
      const FlatPlan::Word& word = flat_.words[i];
      if (word.role != Role::kExcluded && word.leaf == leaf) return static_cast<uint32_t>(i);
    }
    return Add(leaf, Role::kOptional);
  }

  size_t FindRequired(const PlanLeaf& leaf) const {
    const auto is_same = [&](const FlatPlan::Word& word) {
      return word.role == Role::kRequired && word.leaf == leaf;
    };
    return static_cast<size_t>(std::find_if(flat_.words.begin(), flat_.words.end(), is_same) -
                               flat_.words.begin());
  }

  // Returns the word's index. A required word is listed once; only a word's first occurrence
  // scores.
  uint32_t Add(const PlanLeaf& leaf, Role role) {
    if (role == Role::kRequired) {
      const size_t known = FindRequired(leaf);
      if (known < flat_.words.size()) return static_cast<uint32_t>(known);
    }
    FlatPlan::Word word{.leaf = leaf, .role = role};
    const auto claimed = std::find(unclaimed_.begin(), unclaimed_.end(), leaf);
    if (role != Role::kExcluded && claimed != unclaimed_.end()) {
      word.occurrences = claimed->occurrences;
      word.leaf.percent = claimed->percent;
      unclaimed_.erase(claimed);
    }
    flat_.words.push_back(word);
    return static_cast<uint32_t>(flat_.words.size() - 1);
  }

  std::vector<PlanLeaf> unclaimed_;
  FlatPlan flat_;
};

}  // namespace

std::optional<FlatPlan> Flatten(const QueryPlan& plan) {
  Flattener flattener(plan);
  if (!flattener.only_plain_words() || !flattener.AddRoot(plan.root)) return std::nullopt;
  return flattener.Finish();
}

}  // namespace search::index
