#include "index/core/search/match_counter.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "index/core/search/matcher.h"

namespace search::index {
namespace {

constexpr uint32_t kWindowSize = 1 << 16;

// The union of posting lists and matchers, a window at a time.
class UnionCounter {
 public:
  UnionCounter(const std::vector<PlanNode>& nodes, Evaluation* evaluation)
      : evaluation_(evaluation), bits_(kWindowSize / 64) {
    for (const PlanNode& node : nodes) {
      if (node.kind == PlanNode::Kind::kLeaf && !node.leaves[0].title_only) {
        lists_.push_back(evaluation->OpenCursor(node.leaves[0].entry));
      } else {
        matchers_.push_back(MakeMatcher(node, evaluation));
      }
    }
  }

  uint64_t Count() {
    uint64_t count = 0;
    const uint32_t document_count = evaluation_->document_count();
    for (begin_ = 0; begin_ < document_count && !evaluation_->stopped(); begin_ = end_) {
      end_ = std::min(document_count, begin_ + kWindowSize);
      std::fill(bits_.begin(), bits_.end(), 0);
      for (PostingCursor* list : lists_) AddList(list);
      for (const auto& matcher : matchers_) AddMatches(matcher.get());
      for (const uint64_t word : bits_) count += static_cast<uint64_t>(std::popcount(word));
    }
    return count;
  }

 private:
  void Add(uint32_t ordinal) {
    const uint32_t at = ordinal - begin_;
    bits_[at / 64] |= uint64_t{1} << (at % 64);
  }

  void AddList(PostingCursor* list) {
    list->Seek(begin_);
    while (list->ordinal() < end_ && !evaluation_->ShouldStop(kPostingBlockSize)) {
      const std::span<const uint32_t> ordinals = list->block_ordinals();
      uint32_t i = list->index();
      for (; i < ordinals.size() && ordinals[i] < end_; ++i) Add(ordinals[i]);
      list->MoveTo(i);
    }
  }

  void AddMatches(Matcher* matcher) {
    for (uint32_t at = matcher->Seek(begin_); at < end_; at = matcher->Seek(at + 1)) {
      Add(at);
      if (evaluation_->ShouldStop(1)) return;
    }
  }

  Evaluation* evaluation_;
  std::vector<PostingCursor*> lists_;
  std::vector<std::unique_ptr<Matcher>> matchers_;
  std::vector<uint64_t> bits_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

}  // namespace

uint64_t CountMatches(const PlanNode& root, Evaluation* evaluation) {
  if (root.kind == PlanNode::Kind::kNothing) return 0;
  if (root.kind == PlanNode::Kind::kLeaf && !root.leaves[0].title_only) {
    return root.leaves[0].entry.document_frequency;
  }
  if (root.kind == PlanNode::Kind::kOr) return UnionCounter(root.children, evaluation).Count();
  const std::unique_ptr<Matcher> matcher = MakeMatcher(root, evaluation);
  uint64_t count = 0;
  for (uint32_t at = matcher->Seek(0); at != kNoDocument; at = matcher->Seek(at + 1)) {
    ++count;
    if (evaluation->ShouldStop(1)) break;
  }
  return count;
}

}  // namespace search::index
