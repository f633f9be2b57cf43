#include "index/core/search/match_windows.h"

#include <algorithm>

#include "index/core/search/bitmap_filter.h"

namespace search::index {
namespace {

constexpr uint32_t kWindowSize = 1 << 16;

}  // namespace

MatchWindows::MatchWindows(const PlanNode& root, Evaluation* evaluation)
    : evaluation_(evaluation), bits_(kWindowSize / 64) {
  const bool is_union = root.kind == PlanNode::Kind::kOr;
  const std::span<const PlanNode> nodes = is_union ? std::span(root.children) : std::span(&root, 1);
  for (const PlanNode& node : nodes) {
    if (AddToFilter(node, evaluation->space(), &bitmaps_)) continue;
    if (node.kind == PlanNode::Kind::kLeaf && !node.leaves[0].title_only) {
      lists_.push_back(evaluation->OpenCursor(node.leaves[0].entry));
    } else {
      matchers_.push_back(MakeMatcher(node, evaluation));
    }
  }
}

bool MatchWindows::Next() {
  const uint32_t document_count = evaluation_->document_count();
  begin_ = end_;
  if (begin_ >= document_count || evaluation_->stopped()) return false;
  end_ = std::min(document_count, begin_ + kWindowSize);
  std::fill(bits_.begin(), bits_.end(), 0);
  for (const uint64_t* bitmap : bitmaps_) AddBitmap(bitmap);
  for (PostingCursor* list : lists_) AddList(list);
  for (const auto& matcher : matchers_) AddMatches(matcher.get());
  if (evaluation_->live_words() != nullptr) KeepLive();
  return true;
}

void MatchWindows::Add(uint32_t ordinal) {
  const uint32_t at = ordinal - begin_;
  bits_[at / 64] |= uint64_t{1} << (at % 64);
}

void MatchWindows::AddBitmap(const uint64_t* bitmap) {
  const size_t word = begin_ / 64;
  const size_t count = std::min(bits_.size(), evaluation_->space().impacts.block_count() - word);
  for (size_t i = 0; i < count; ++i) bits_[i] |= bitmap[word + i];
  evaluation_->ShouldStop(static_cast<uint32_t>(count / 8));
}

void MatchWindows::AddList(PostingCursor* list) {
  list->Seek(begin_);
  while (list->ordinal() < end_ && !evaluation_->ShouldStop(kPostingBlockSize)) {
    const std::span<const uint32_t> ordinals = list->block_ordinals();
    uint32_t i = list->index();
    for (; i < ordinals.size() && ordinals[i] < end_; ++i) Add(ordinals[i]);
    list->MoveTo(i);
  }
}

void MatchWindows::AddMatches(Matcher* matcher) {
  for (uint32_t at = matcher->Seek(begin_); at < end_; at = matcher->Seek(at + 1)) {
    Add(at);
    if (evaluation_->ShouldStop(1)) return;
  }
}

void MatchWindows::KeepLive() {
  const uint64_t* live = evaluation_->live_words() + begin_ / 64;
  for (size_t i = 0; i < (end_ - begin_ + 63) / 64; ++i) bits_[i] &= live[i];
}

}  // namespace search::index
