#include "index/core/search/match_counter.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "index/core/search/block_kernels.h"
#include "index/core/search/match_windows.h"
#include "index/core/search/matcher.h"
#include "index/core/search/phrase_check.h"

namespace search::index {
namespace {

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
      phrases_.emplace_back(node, std::move(cursors), evaluation_);
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
  if (root.kind != PlanNode::Kind::kOr) return IntersectionCounter(root, evaluation).Count();
  uint64_t count = 0;
  for (MatchWindows windows(root, evaluation); windows.Next();) {
    count += Kernels().count(windows.bits().data(), windows.bits().size());
  }
  return count;
}

}  // namespace search::index
