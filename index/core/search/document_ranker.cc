#include "index/core/search/document_ranker.h"

#include <algorithm>

namespace search::index {

DocumentRanker::DocumentRanker(const QueryPlan& plan, bool exhaustive, Evaluation* evaluation,
                               TopKQueue* queue)
    : space_(evaluation->space()),
      evaluation_(evaluation),
      queue_(queue),
      unclaimed_(plan.scoring) {
  if (exhaustive) {
    lead_ = MakeMatcher(plan.root, evaluation_);
  } else if (plan.root.kind == PlanNode::Kind::kAnd) {
    for (const PlanNode& child : plan.root.children) AddRequired(child);
    for (const PlanNode& child : plan.root.excluded) {
      if (!AddToFilter(child, space_, &filter_.none)) {
        excluded_.push_back(MakeMatcher(child, evaluation_));
      }
    }
  } else {
    AddRequired(plan.root);
  }
  Prepare(plan);
}

void DocumentRanker::AddRequired(const PlanNode& node) {
  if (node.kind == PlanNode::Kind::kLeaf || node.kind == PlanNode::Kind::kPhrase) {
    AddRequiredLeaves(node);
  } else {
    filters_.push_back(MakeMatcher(node, evaluation_));
  }
}

void DocumentRanker::AddRequiredLeaves(const PlanNode& node) {
  std::vector<PostingCursor*> cursors;
  for (const PlanLeaf& leaf : node.leaves) {
    const auto claimed = std::find(unclaimed_.begin(), unclaimed_.end(), leaf);
    const bool scores = claimed != unclaimed_.end();
    required_.emplace_back(leaf, scores ? &*claimed : nullptr, evaluation_);
    if (scores) unclaimed_.erase(claimed);
    cursors.push_back(&required_.back().cursor());
  }
  if (node.kind == PlanNode::Kind::kPhrase) {
    phrases_.emplace_back(node, std::move(cursors), evaluation_);
  }
}

void DocumentRanker::Prepare(const QueryPlan& plan) {
  if (required_.empty() && lead_ == nullptr) {
    lead_ = std::move(filters_.front());
    filters_.erase(filters_.begin());
  }
  std::stable_sort(
      required_.begin(), required_.end(), [](const ScoredLeaf& a, const ScoredLeaf& b) {
        return a.cursor().entry().document_frequency < b.cursor().entry().document_frequency;
      });
  for (size_t i = 1; i < required_.size(); ++i) {
    if (required_[i].bitmap() != nullptr) filter_.all.push_back(required_[i].bitmap());
  }
  if (evaluation_->live_words() != nullptr) filter_.all.push_back(evaluation_->live_words());
  uint64_t rest = 0;
  for (const PlanLeaf& leaf : unclaimed_) {
    optional_.emplace_back(leaf, &leaf, evaluation_);
    rest += optional_.back().units_max();
  }
  rest_.assign(required_.size() + 1, rest);
  for (size_t i = required_.size(); i > 0; --i) {
    rest_[i - 1] = rest_[i] + required_[i - 1].units_max();
  }
}

RankingOutcome DocumentRanker::Run() {
  uint32_t target = 0;
  while (true) {
    const uint32_t ordinal = SeekLead(target);
    if (ordinal == kNoDocument || evaluation_->ShouldStop(1)) break;
    target = Consider(ordinal);
    if (target == kNoDocument) break;
  }
  return outcome_;
}

bool DocumentRanker::CanEnter(uint64_t units) {
  if (queue_->CanEnter(units)) return true;
  outcome_.pruned = true;
  return false;
}

uint32_t DocumentRanker::SeekLead(uint32_t target) {
  if (lead_ != nullptr) {
    uint32_t at = lead_->Seek(target);
    while (at != kNoDocument && !filter_.Passes(at) && !evaluation_->ShouldStop(1)) {
      at = lead_->Seek(at + 1);
    }
    return at;
  }
  PostingCursor& cursor = required_[0].cursor();
  while (true) {
    if (queue_->required() > 0) target = SkipBlocks(target);
    if (target == kNoDocument) return kNoDocument;
    const uint32_t ordinal = cursor.Seek(target);
    if (ordinal == kNoDocument) return kNoDocument;
    const std::span<const uint32_t> ordinals = cursor.block_ordinals();
    if (cursor.block() != prefetched_block_) {
      prefetched_block_ = cursor.block();
      for (const uint32_t candidate : ordinals.subspan(cursor.index())) {
        if (filter_.Passes(candidate)) PrefetchDocument(space_, candidate);
      }
    }
    if (filter_.empty()) return ordinal;
    uint32_t index = cursor.index();
    while (index < ordinals.size() && !filter_.Passes(ordinals[index])) ++index;
    if (evaluation_->ShouldStop(1 + index - cursor.index())) return kNoDocument;
    if (index < ordinals.size()) {
      cursor.MoveTo(index);
      return ordinals[index];
    }
    target = ordinals.back() + 1;
  }
}

// Moves the target past blocks of the leading list that cannot contain a hit.
uint32_t DocumentRanker::SkipBlocks(uint32_t target) {
  if (has_bounded_ && target <= bounded_last_ && bounded_required_ == queue_->required()) {
    return target;
  }
  const PostingCursor& cursor = required_[0].cursor();
  uint32_t block = cursor.FindBlock(target, cursor.started() ? cursor.block() : 0);
  while (block < cursor.block_count()) {
    const uint32_t last = cursor.block_last(block);
    // Only of a damaged list; moving on reads the block, and reports it.
    if (last < target || last >= evaluation_->document_count()) return target;
    bounded_last_ = last;
    has_bounded_ = true;
    bounded_required_ = queue_->required();
    if (CanEnter(required_[0].BlockUnits(block) + rest_[1] + space_.static_rank_units_max)) {
      return target;
    }
    target = bounded_last_ + 1;
    ++block;
  }
  return kNoDocument;
}

uint32_t DocumentRanker::Consider(uint32_t ordinal) {
  Candidate candidate{ordinal, space_.StaticRankUnits(ordinal), ordinal + 1};
  for (size_t i = 0; i < required_.size(); ++i) {
    if (!Confirms(&required_[i], rest_[i + 1], &candidate)) return candidate.next_target;
  }
  uint64_t rest = rest_.back();
  for (ScoredLeaf& leaf : optional_) {
    if (!CanEnter(candidate.units + rest)) return candidate.next_target;
    rest -= leaf.units_max();
    if (leaf.Reach(ordinal)) candidate.units += leaf.Units();
  }
  if (CanEnter(candidate.units) && PassesFilters(&candidate)) {
    ++outcome_.matched;
    queue_->Offer(ordinal, static_cast<ScoreUnits>(candidate.units));
  }
  return candidate.next_target;
}

bool DocumentRanker::Confirms(ScoredLeaf* leaf, uint64_t rest, Candidate* candidate) {
  const uint32_t ordinal = candidate->ordinal;
  PostingCursor& cursor = leaf->cursor();
  if (!cursor.IsInBlock(ordinal)) {
    const uint32_t block = cursor.FindBlock(ordinal, cursor.started() ? cursor.block() : 0);
    if (block >= cursor.block_count()) {
      candidate->next_target = kNoDocument;
      return false;
    }
    if (!CanEnter(candidate->units + leaf->BlockUnits(block) + rest)) return false;
  } else if (!CanEnter(candidate->units + leaf->units_max() + rest)) {
    return false;
  }
  const uint32_t at = cursor.Seek(ordinal);
  if (at != ordinal) {
    candidate->next_target = std::max(candidate->next_target, at);
    return false;
  }
  if (!leaf->IsMatch()) return false;
  candidate->units += leaf->Units();
  return true;
}

bool DocumentRanker::PassesFilters(Candidate* candidate) {
  const uint32_t ordinal = candidate->ordinal;
  for (const auto& filter : filters_) {
    const uint32_t at = filter->Seek(ordinal);
    if (at != ordinal) {
      candidate->next_target = std::max(candidate->next_target, at);
      return false;
    }
  }
  for (const auto& matcher : excluded_) {
    if (matcher->Seek(ordinal) == ordinal) return false;
  }
  for (PhraseAtCursors& phrase : phrases_) {
    if (!phrase.Matches()) return false;
  }
  return true;
}

}  // namespace search::index
