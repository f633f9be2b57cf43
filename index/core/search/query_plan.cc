#include "index/core/search/query_plan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "index/core/document_fields.h"
#include "index/core/segment/date_terms.h"
#include "index/core/segment/prefix_terms.h"

namespace search::index {
namespace {

// The parser's trees are less deep; only a tree built by a caller can exceed this.
constexpr int kDepthMax = 256;

class Planner {
 public:
  // `stop` outlives the planner.
  Planner(const Segment& segment, const std::function<bool()>& stop, std::vector<PlanLeaf>* scoring)
      : segment_(segment), stop_(stop), scoring_(scoring) {}

  neptune::StatusOr<PlanNode> Plan(const QueryNode& node, bool scores, int depth) {
    if (depth > kDepthMax) return neptune::InvalidArgument("query: nested too deeply");
    switch (node.kind) {
      case QueryNode::Kind::kNothing:
      case QueryNode::Kind::kNot:  // outside kAnd
        return PlanNode();
      case QueryNode::Kind::kTerm:
        return PlanTerms({node.term}, {0}, node.field, ShareOf(node, scores));
      case QueryNode::Kind::kPrefix:
        return PlanPrefix(node, scores);
      case QueryNode::Kind::kSite:
        return PlanTerms({Segment::SiteKey(node.term)}, {0}, QueryField::kAny, {});
      case QueryNode::Kind::kField:
        return PlanField(node);
      case QueryNode::Kind::kPhrase:
      case QueryNode::Kind::kNear:
        return PlanPhrase(node, scores);
      case QueryNode::Kind::kAnd:
        return PlanAnd(node, scores, depth);
      case QueryNode::Kind::kOr:
        return PlanOr(node, scores, depth);
    }
    return PlanNode();
  }

  bool prefix_is_cut() const { return prefix_is_cut_; }
  bool phrase_is_left_out() const { return phrase_is_left_out_; }
  bool is_stopped() const { return is_stopped_; }

 private:
  // How often a leaf scores, and with which share; no occurrences: it does not.
  struct Share {
    uint32_t occurrences = 0;
    uint32_t percent = 100;
  };
  static Share ShareOf(const QueryNode& node, bool scores) {
    return {scores ? node.occurrences : 0, node.percent};
  }

  neptune::StatusOr<PlanNode> PlanPhrase(const QueryNode& node, bool scores) {
    // Fails even if a word is missing and the phrase could not match, so that all partitions agree.
    if (!segment_.has_positions()) {
      return neptune::InvalidArgument(
          "query: this index has no positions, so it cannot answer phrases; ask for the words "
          "without quotes");
    }
    return PlanPhraseTerms(node, scores);
  }

  neptune::StatusOr<PlanNode> PlanPhraseTerms(const QueryNode& node, bool scores) {
    std::vector<std::string_view> keys;
    std::vector<uint32_t> positions;
    for (const PhraseTerm& term : node.phrase) {
      keys.push_back(term.term);
      positions.push_back(term.position);
    }
    NEPTUNE_ASSIGN_OR_RETURN(PlanNode planned,
                             PlanTerms(keys, positions, node.field, ShareOf(node, scores)));
    planned.distance = node.distance;
    return planned;
  }

  static bool IsPhrase(const QueryNode& node) {
    return node.kind == QueryNode::Kind::kPhrase || node.kind == QueryNode::Kind::kNear;
  }

  // True if phrases among the alternatives cannot be found, and others can.
  bool LeavesOutPhrases(const QueryNode& any) const {
    return !segment_.has_positions() &&
           !std::all_of(any.children.begin(), any.children.end(), IsPhrase);
  }

  // Documents with the value of a field, or with one of the dates of a range.
  neptune::StatusOr<PlanNode> PlanField(const QueryNode& node) {
    const FieldFilter filter = FieldFilterOf(node);
    const bool is_before = filter.name == "before";
    if (!is_before && filter.name != "after") {
      return PlanTerms({FieldKey(filter.name, filter.value)}, {0}, QueryField::kAny, {});
    }
    const std::optional<DayRange> days = ParseDate(filter.value);
    if (!days.has_value()) return PlanNode();
    const DayRange range = is_before ? DayRange{0, days->first} : DayRange{days->first, UINT32_MAX};
    NEPTUNE_ASSIGN_OR_RETURN(const std::vector<TermEntry> dates,
                             FindDateTerms(segment_.terms(), range));
    PlanNode any;
    any.kind = PlanNode::Kind::kOr;
    for (const TermEntry& date : dates) {
      PlanNode& leaf = any.children.emplace_back();
      leaf.kind = PlanNode::Kind::kLeaf;
      leaf.leaves.push_back({date});
      leaf.positions = {0};
    }
    return any.children.empty() ? PlanNode() : Simplify(std::move(any));
  }

  // Any of the terms that the prefix stands for in this segment.
  neptune::StatusOr<PlanNode> PlanPrefix(const QueryNode& node, bool scores) {
    is_stopped_ = is_stopped_ || (stop_ && stop_());
    if (is_stopped_) return PlanNode();
    NEPTUNE_ASSIGN_OR_RETURN(const PrefixTerms found,
                             FindPrefixTerms(segment_.terms(), node.term, node.folded));
    prefix_is_cut_ |= found.is_cut;
    PlanNode any;
    any.kind = PlanNode::Kind::kOr;
    for (const PrefixTerm& term : found.terms) {
      PlanNode& leaf = any.children.emplace_back();
      leaf.kind = PlanNode::Kind::kLeaf;
      leaf.leaves.push_back({term.entry, node.field == QueryField::kTitle});
      leaf.positions = {0};
      if (scores) AddScoring(leaf.leaves.back(), ShareOf(node, scores));
    }
    return any.children.empty() ? PlanNode() : Simplify(std::move(any));
  }

  // Leaves score even if the phrase as a whole cannot match,
  // because another branch may match the document.
  neptune::StatusOr<PlanNode> PlanTerms(const std::vector<std::string_view>& keys,
                                        std::vector<uint32_t> positions, QueryField field,
                                        Share share) {
    PlanNode node;
    for (const std::string_view key : keys) {
      NEPTUNE_ASSIGN_OR_RETURN(const auto entry, segment_.terms().Find(key));
      if (!entry.has_value()) continue;
      node.leaves.push_back({*entry, field == QueryField::kTitle});
      if (share.occurrences > 0) AddScoring(node.leaves.back(), share);
    }
    if (node.leaves.size() < keys.size() || keys.empty()) return PlanNode();
    node.kind = keys.size() == 1 ? PlanNode::Kind::kLeaf : PlanNode::Kind::kPhrase;
    node.positions = std::move(positions);
    return node;
  }

  neptune::StatusOr<PlanNode> PlanAnd(const QueryNode& query, bool scores, int depth) {
    PlanNode node;
    node.kind = PlanNode::Kind::kAnd;
    bool possible = false;
    bool impossible = false;
    for (const QueryNode& child : query.children) {
      const bool excluded = child.kind == QueryNode::Kind::kNot;
      if (excluded && child.children.empty()) continue;
      const QueryNode& positive = excluded ? child.children[0] : child;
      NEPTUNE_ASSIGN_OR_RETURN(PlanNode planned, Plan(positive, scores && !excluded, depth + 1));
      if (child.is_optional) continue;  // the plan knows it as a scoring leaf
      const bool nothing = planned.kind == PlanNode::Kind::kNothing;
      if (!excluded) (nothing ? impossible : possible) = true;
      if (!nothing) (excluded ? node.excluded : node.children).push_back(std::move(planned));
    }
    if (impossible || !possible) return PlanNode();
    Absorb(&node.children);
    return Simplify(std::move(node));
  }

  neptune::StatusOr<PlanNode> PlanOr(const QueryNode& query, bool scores, int depth) {
    PlanNode node;
    node.kind = PlanNode::Kind::kOr;
    const bool leaves_out = LeavesOutPhrases(query);
    for (const QueryNode& child : query.children) {
      if (leaves_out && IsPhrase(child)) {
        phrase_is_left_out_ = true;
        NEPTUNE_RETURN_IF_ERROR(PlanPhraseTerms(child, scores).status());
        continue;
      }
      NEPTUNE_ASSIGN_OR_RETURN(PlanNode planned, Plan(child, scores, depth + 1));
      if (planned.kind != PlanNode::Kind::kOr) {
        AddAlternative(std::move(planned), &node.children);
        continue;
      }
      for (PlanNode& alternative : planned.children) {  // of a prefix
        AddAlternative(std::move(alternative), &node.children);
      }
    }
    return node.children.empty() ? PlanNode() : Simplify(std::move(node));
  }

  // Absorption and prefixes may have made alternatives equal; an any-of holds each word once.
  static void AddAlternative(PlanNode node, std::vector<PlanNode>* alternatives) {
    const auto is_same = [&](const PlanNode& other) { return IsSame(other, node); };
    if (node.kind == PlanNode::Kind::kNothing ||
        std::any_of(alternatives->begin(), alternatives->end(), is_same)) {
      return;
    }
    alternatives->push_back(std::move(node));
  }

  // True if both are the same word or phrase.
  static bool IsSame(const PlanNode& a, const PlanNode& b) {
    return a.kind == b.kind && !a.leaves.empty() && a.leaves == b.leaves &&
           a.positions == b.positions && a.distance == b.distance;
  }

  // Drops children of all-of that another child implies: `a AND (a OR b)` is `a`. The score
  // contribution of `b` is already recorded.
  static void Absorb(std::vector<PlanNode>* children) {
    for (size_t i = 0; i < children->size();) {
      const auto implies = [&](const PlanNode& child) {
        for (size_t j = 0; j < children->size(); ++j) {
          if (j != i && IsSame((*children)[j], child)) return true;
        }
        return false;
      };
      const PlanNode& node = (*children)[i];
      const bool is_implied =
          implies(node) || (node.kind == PlanNode::Kind::kOr &&
                            std::any_of(node.children.begin(), node.children.end(), implies));
      if (is_implied) {
        children->erase(children->begin() + static_cast<ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  static PlanNode Simplify(PlanNode node) {
    if (node.children.size() != 1 || !node.excluded.empty()) return node;
    PlanNode only = std::move(node.children[0]);
    return only;
  }

  void AddScoring(const PlanLeaf& leaf, Share share) {
    const auto known = std::find(scoring_->begin(), scoring_->end(), leaf);
    if (known != scoring_->end()) {
      known->occurrences += share.occurrences;
      known->percent = std::max(known->percent, share.percent);
    } else {
      scoring_->push_back({leaf.entry, leaf.title_only, share.occurrences, share.percent});
    }
  }

  const Segment& segment_;
  const std::function<bool()>& stop_;
  std::vector<PlanLeaf>* scoring_;
  bool is_stopped_ = false;
  bool prefix_is_cut_ = false;
  bool phrase_is_left_out_ = false;
};

}  // namespace

uint64_t PlanNode::cost() const {
  uint64_t least = UINT64_MAX;
  uint64_t sum = 0;
  for (const PlanLeaf& leaf : leaves) {
    least = std::min<uint64_t>(least, leaf.entry.document_frequency);
  }
  for (const PlanNode& child : children) {
    const uint64_t cost = child.cost();
    least = std::min(least, cost);
    sum += cost;
  }
  return kind == Kind::kOr ? sum : least;
}

uint64_t QueryPlan::ExpectedPostings() const {
  switch (root.kind) {
    case PlanNode::Kind::kNothing:
      return 0;
    case PlanNode::Kind::kOr:
      return root.cost();
    default:
      // The rarest list, and a place in each of the others for its postings.
      return root.cost() * std::max<size_t>(1, root.leaves.size() + root.children.size());
  }
}

neptune::StatusOr<QueryPlan> MakeQueryPlan(const Query& query, const Segment& segment,
                                           const std::function<bool()>& stop) {
  QueryPlan plan;
  Planner planner(segment, stop, &plan.scoring);
  NEPTUNE_ASSIGN_OR_RETURN(plan.root, planner.Plan(query.root, true, 0));
  plan.prefix_is_cut = planner.prefix_is_cut();
  plan.phrase_is_left_out = planner.phrase_is_left_out();
  plan.is_stopped = planner.is_stopped();
  uint64_t count = 0;
  for (const PlanLeaf& leaf : plan.scoring) count += leaf.occurrences;
  if (count > kScoringLeavesMax) {
    return neptune::InvalidArgument("query: ", count, " scoring words, at most ", kScoringLeavesMax,
                                    " are allowed");
  }
  return plan;
}

}  // namespace search::index
