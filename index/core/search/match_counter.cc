#include "index/core/search/match_counter.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "index/core/search/block_kernels.h"
#include "index/core/search/matcher.h"
#include "index/core/search/phrase_check.h"

namespace search::index {
namespace {

constexpr uint32_t kWindowSize = 1 << 16;

// Counts the union of posting lists and matchers, one window at a time.
class UnionCounter {
 public:
  UnionCounter(const std::vector<PlanNode>& nodes, Evaluation* evaluation)
      : evaluation_(evaluation), bits_(kWindowSize / 64) {
    for (const PlanNode& node : nodes) {
      if (AddToFilter(node, evaluation->space(), &bitmaps_)) continue;
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
      for (const uint64_t* bitmap : bitmaps_) AddBitmap(bitmap);
      for (PostingCursor* list : lists_) AddList(list);
      for (const auto& matcher : matchers_) AddMatches(matcher.get());
      if (evaluation_->live_words() != nullptr) KeepLive();
      count += Kernels().count(bits_.data(), bits_.size());
    }
    return count;
  }

 private:
  void Add(uint32_t ordinal) {
    const uint32_t at = ordinal - begin_;
    bits_[at / 64] |= uint64_t{1} << (at % 64);
  }

  void AddBitmap(const uint64_t* bitmap) {
    const size_t word = begin_ / 64;
    const size_t count = std::min(bits_.size(), evaluation_->space().impacts.block_count() - word);
    for (size_t i = 0; i < count; ++i) bits_[i] |= bitmap[word + i];
    evaluation_->ShouldStop(static_cast<uint32_t>(count / 8));
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

  void KeepLive() {
    const uint64_t* live = evaluation_->live_words() + begin_ / 64;
    for (size_t i = 0; i < (end_ - begin_ + 63) / 64; ++i) bits_[i] &= live[i];
  }

  Evaluation* evaluation_;
  std::vector<const uint64_t*> bitmaps_;
  std::vector<PostingCursor*> lists_;
  std::vector<std::unique_ptr<Matcher>> matchers_;
  std::vector<uint64_t> bits_;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
};

// Counts documents that hold all parts and no excluded one. The rarest word leads: its blocks are
// filtered by the bitmaps of frequent words, and the remaining documents are looked up in the other
// lists.
class IntersectionCounter {
 public:
  IntersectionCounter(const PlanNode& root, Evaluation* evaluation) : evaluation_(evaluation) {
    if (root.kind == PlanNode::Kind::kAnd) {
      for (const PlanNode& child : root.children) AddRequired(child);
      for (const PlanNode& child : root.excluded) {
        if (!AddToFilter(child, evaluation->space(), &filter_.none)) {
          excluded_.push_back(MakeMatcher(child, evaluation));
        }
      }
    } else {
      AddRequired(root);
    }
    if (evaluation->live_words() != nullptr) filter_.all.push_back(evaluation->live_words());
    ChooseLead();
  }

  uint64_t Count() { return lead_ != nullptr ? CountByLead() : CountByPart(); }

 private:
  struct Word {
    PlanLeaf leaf;
    const uint64_t* bitmap = nullptr;
    PostingCursor* cursor = nullptr;  // set if the part has no bitmap: rare, or a word of a phrase
  };

  void AddRequired(const PlanNode& node) {
    const bool is_phrase = node.kind == PlanNode::Kind::kPhrase;
    const bool is_word = node.kind == PlanNode::Kind::kLeaf && !node.leaves[0].title_only;
    if (!is_phrase && !is_word) {
      parts_.push_back(MakeMatcher(node, evaluation_));
      return;
    }
    std::vector<PostingCursor*> cursors;
    for (const PlanLeaf& leaf : node.leaves) {
      Word word{.leaf = leaf, .bitmap = evaluation_->space().impacts.FindDocuments(leaf.entry)};
      if (is_phrase || word.bitmap == nullptr) {
        word.cursor = evaluation_->OpenCursor(leaf.entry);
        cursors.push_back(word.cursor);
      }
      words_.push_back(word);
    }
    if (is_phrase) {
      phrases_.emplace_back(node.leaves, node.positions, std::move(cursors), evaluation_);
    }
  }

  // Leads with the rarest word, if there is any.
  void ChooseLead() {
    std::stable_sort(words_.begin(), words_.end(), [](const Word& a, const Word& b) {
      return a.leaf.entry.document_frequency < b.leaf.entry.document_frequency;
    });
    for (size_t i = 0; i < words_.size(); ++i) {
      Word& word = words_[i];
      if (i == 0) {
        lead_ = word.cursor != nullptr ? word.cursor : evaluation_->OpenCursor(word.leaf.entry);
        continue;
      }
      if (word.bitmap != nullptr) filter_.all.push_back(word.bitmap);
      if (word.cursor != nullptr) walked_.push_back(word.cursor);
    }
  }

  uint64_t CountByLead() {
    uint64_t count = 0;
    for (uint32_t at = lead_->Seek(0); at != kNoDocument;) {
      const std::span<const uint32_t> ordinals = lead_->block_ordinals();
      std::array<uint8_t, kPostingBlockSize> indexes;
      uint32_t kept = 0;
      for (uint32_t i = lead_->index(); i < ordinals.size(); ++i) {
        indexes[kept] = static_cast<uint8_t>(i);
        kept += filter_.Passes(ordinals[i]) ? 1 : 0;
      }
      if (evaluation_->ShouldStop(static_cast<uint32_t>(ordinals.size()))) break;
      if (walked_.empty() && phrases_.empty() && parts_.empty() && excluded_.empty()) {
        count += kept;
      } else {
        for (uint32_t i = 0; i < kept && !evaluation_->stopped(); ++i) {
          lead_->MoveTo(indexes[i]);
          count += Confirms(lead_->ordinal()) ? 1 : 0;
          evaluation_->ShouldStop(1);
        }
      }
      if (evaluation_->stopped() || exhausted_) break;
      lead_->MoveTo(kPostingBlockSize);
      at = lead_->ordinal();
    }
    return count;
  }

  uint64_t CountByPart() {
    uint64_t count = 0;
    for (uint32_t at = parts_[0]->Seek(0); at != kNoDocument; at = parts_[0]->Seek(at + 1)) {
      count += filter_.Passes(at) && Confirms(at) ? 1 : 0;
      if (exhausted_ || evaluation_->ShouldStop(1)) break;
    }
    return count;
  }

  bool Confirms(uint32_t ordinal) {
    for (PostingCursor* cursor : walked_) {
      const uint32_t at = cursor->Seek(ordinal);
      exhausted_ = exhausted_ || at == kNoDocument;
      if (at != ordinal) return false;
    }
    for (const auto& part : parts_) {
      if (part->Seek(ordinal) != ordinal) return false;
    }
    for (const auto& part : excluded_) {
      if (part->Seek(ordinal) == ordinal) return false;
    }
    for (PhraseAtCursors& phrase : phrases_) {
      if (!phrase.Matches()) return false;
    }
    return true;
  }

  Evaluation* evaluation_;
  std::vector<Word> words_;
  BitmapFilter filter_;
  PostingCursor* lead_ = nullptr;
  std::vector<PostingCursor*> walked_;
  std::vector<PhraseAtCursors> phrases_;
  std::vector<std::unique_ptr<Matcher>> parts_;
  std::vector<std::unique_ptr<Matcher>> excluded_;
  bool exhausted_ = false;  // a required list has ended
};

}  // namespace

uint64_t CountMatches(const PlanNode& root, Evaluation* evaluation) {
  if (root.kind == PlanNode::Kind::kNothing) return 0;
  const bool is_word = root.kind == PlanNode::Kind::kLeaf && !root.leaves[0].title_only;
  if (is_word && evaluation->live_words() == nullptr) {
    return root.leaves[0].entry.document_frequency;
  }
  if (root.kind == PlanNode::Kind::kOr) return UnionCounter(root.children, evaluation).Count();
  return IntersectionCounter(root, evaluation).Count();
}

}  // namespace search::index
