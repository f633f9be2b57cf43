#include "index/core/search/matcher.h"

#include <algorithm>
#include <vector>

#include "index/core/search/phrase_check.h"

namespace search::index {
namespace {

class EmptyMatcher : public Matcher {
 public:
  uint32_t Seek(uint32_t) override { return kNoDocument; }
};

class LeafMatcher : public Matcher {
 public:
  explicit LeafMatcher(PostingCursor* cursor) : cursor_(cursor) {}
  uint32_t Seek(uint32_t target) override { return cursor_->Seek(target); }

 private:
  PostingCursor* cursor_;
};

class TitleMatcher : public Matcher {
 public:
  TitleMatcher(PostingCursor* cursor, Evaluation* evaluation)
      : cursor_(cursor), evaluation_(evaluation) {}

  uint32_t Seek(uint32_t target) override {
    uint32_t at = cursor_->Seek(target);
    while (at != kNoDocument && cursor_->frequency(Field::kTitle) == 0) {
      if (evaluation_->ShouldStop(1)) return kNoDocument;
      at = cursor_->Next();
    }
    return at;
  }

 private:
  PostingCursor* cursor_;
  Evaluation* evaluation_;
};

// Matches documents that hold all parts, no excluded one, and the phrase if there is one.
class AndMatcher : public Matcher {
 public:
  AndMatcher(std::vector<std::unique_ptr<Matcher>> parts,
             std::vector<std::unique_ptr<Matcher>> excluded,
             std::unique_ptr<PhraseAtCursors> phrase, Evaluation* evaluation)
      : parts_(std::move(parts)),
        excluded_(std::move(excluded)),
        phrase_(std::move(phrase)),
        evaluation_(evaluation) {}

  uint32_t Seek(uint32_t target) override {
    if (has_match_ && target <= match_) return match_;
    while (true) {
      target = Align(target);
      if (target == kNoDocument || Accepts(target)) break;
      ++target;
    }
    has_match_ = true;
    return match_ = target;
  }

 private:
  // The first document at or after `target` that all parts hold.
  uint32_t Align(uint32_t target) {
    for (size_t agreed = 0; agreed < parts_.size();) {
      if (evaluation_->ShouldStop(1)) return kNoDocument;
      const uint32_t at = parts_[agreed]->Seek(target);
      if (at == kNoDocument) return kNoDocument;
      // The cheapest part proposed the target; if a later part rejects it, restart from the
      // cheapest.
      agreed = at == target || agreed == 0 ? agreed + 1 : 0;
      target = at;
    }
    return target;
  }

  bool Accepts(uint32_t ordinal) {
    for (const auto& part : excluded_) {
      if (part->Seek(ordinal) == ordinal) return false;
    }
    return phrase_ == nullptr || phrase_->Matches();
  }

  std::vector<std::unique_ptr<Matcher>> parts_;
  std::vector<std::unique_ptr<Matcher>> excluded_;
  std::unique_ptr<PhraseAtCursors> phrase_;
  Evaluation* evaluation_;
  bool has_match_ = false;
  uint32_t match_ = 0;
};

class OrMatcher : public Matcher {
 public:
  OrMatcher(std::vector<std::unique_ptr<Matcher>> parts, Evaluation* evaluation)
      : parts_(std::move(parts)), at_(parts_.size(), 0), evaluation_(evaluation) {}

  uint32_t Seek(uint32_t target) override {
    if (started_ && target <= match_) return match_;
    uint32_t first = kNoDocument;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!started_ || at_[i] < target) at_[i] = parts_[i]->Seek(target);
      first = std::min(first, at_[i]);
    }
    if (evaluation_->ShouldStop(static_cast<uint32_t>(parts_.size()))) first = kNoDocument;
    started_ = true;
    return match_ = first;
  }

 private:
  std::vector<std::unique_ptr<Matcher>> parts_;
  std::vector<uint32_t> at_;
  Evaluation* evaluation_;
  bool started_ = false;
  uint32_t match_ = 0;
};

std::unique_ptr<Matcher> MakePhrase(const PlanNode& node, Evaluation* evaluation) {
  std::vector<PostingCursor*> cursors;
  for (const PlanLeaf& leaf : node.leaves) cursors.push_back(evaluation->OpenCursor(leaf.entry));
  auto check = std::make_unique<PhraseAtCursors>(node, cursors, evaluation);
  std::sort(cursors.begin(), cursors.end(), [](const PostingCursor* a, const PostingCursor* b) {
    return a->entry().document_frequency < b->entry().document_frequency;
  });
  std::vector<std::unique_ptr<Matcher>> parts;
  for (PostingCursor* cursor : cursors) parts.push_back(std::make_unique<LeafMatcher>(cursor));
  return std::make_unique<AndMatcher>(std::move(parts), std::vector<std::unique_ptr<Matcher>>(),
                                      std::move(check), evaluation);
}

std::vector<std::unique_ptr<Matcher>> MakeAll(std::vector<const PlanNode*> nodes,
                                              Evaluation* evaluation) {
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const PlanNode* a, const PlanNode* b) { return a->cost() < b->cost(); });
  std::vector<std::unique_ptr<Matcher>> parts;
  for (const PlanNode* node : nodes) parts.push_back(MakeMatcher(*node, evaluation));
  return parts;
}

std::vector<const PlanNode*> Pointers(const std::vector<PlanNode>& nodes) {
  std::vector<const PlanNode*> pointers;
  for (const PlanNode& node : nodes) pointers.push_back(&node);
  return pointers;
}

}  // namespace

bool AddToFilter(const PlanNode& node, const SearchSpace& space,
                 std::vector<const uint64_t*>* bitmaps) {
  if (node.kind != PlanNode::Kind::kLeaf || node.leaves[0].title_only) return false;
  const uint64_t* bitmap = space.impacts.FindDocuments(node.leaves[0].entry);
  if (bitmap == nullptr) return false;
  bitmaps->push_back(bitmap);
  return true;
}

std::unique_ptr<Matcher> MakeMatcher(const PlanNode& node, Evaluation* evaluation) {
  switch (node.kind) {
    case PlanNode::Kind::kNothing:
      break;
    case PlanNode::Kind::kLeaf: {
      PostingCursor* cursor = evaluation->OpenCursor(node.leaves[0].entry);
      if (node.leaves[0].title_only) return std::make_unique<TitleMatcher>(cursor, evaluation);
      return std::make_unique<LeafMatcher>(cursor);
    }
    case PlanNode::Kind::kPhrase:
      return MakePhrase(node, evaluation);
    case PlanNode::Kind::kAnd:
      return std::make_unique<AndMatcher>(MakeAll(Pointers(node.children), evaluation),
                                          MakeAll(Pointers(node.excluded), evaluation), nullptr,
                                          evaluation);
    case PlanNode::Kind::kOr:
      return std::make_unique<OrMatcher>(MakeAll(Pointers(node.children), evaluation), evaluation);
  }
  return std::make_unique<EmptyMatcher>();
}

}  // namespace search::index
