#include "frontend/policy/result_folding.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "index/html/text_signature.h"

namespace search::frontend {
namespace {

class Folder {
 public:
  Folder(std::span<const FoldCandidate> candidates, const FoldingRules& rules)
      : candidates_(candidates), rules_(rules) {}

  FoldedPage Run() {
    size_t next = 0;
    while (next < candidates_.size() && shown_.size() < rules_.count) {
      if (const auto waiting = BestFolded(); waiting && !MayReplace(next, *waiting)) {
        Unfold(*waiting);
      } else {
        Place(next++);
      }
    }
    page_.covered_count = next;
    if (shown_.size() < rules_.count) AskForMore();
    // Nothing takes the place of what is folded.
    while (!page_.wants_more && shown_.size() < rules_.count) {
      const auto waiting = BestFolded();
      if (!waiting) break;
      Unfold(*waiting);
    }
    // Near-duplicates have left places, and nothing waits for them.
    page_.wants_more |= shown_.size() < rules_.count && rules_.next_score.has_value();
    std::sort(shown_.begin(), shown_.end(),
              [](const auto& a, const auto& b) { return a.index < b.index; });
    if (shown_.size() >= rules_.count) EndAtLastShown();
    page_.results = std::move(shown_);
    return std::move(page_);
  }

 private:
  void Place(size_t index) {
    const FoldCandidate& candidate = candidates_[index];
    if (!candidate.is_known) return Show(index);
    for (FoldedResult& leader : shown_) {
      if (IsNearDuplicate(candidates_[leader.index], candidate)) {
        page_.is_plain = false;
        return leader.similar.push_back(index);
      }
    }
    FoldedResult* const last = LastOfFullSite(candidate.site);
    if (last == nullptr) return Show(index);
    page_.is_plain = false;
    last->more_of_site.push_back(index);
  }

  void Show(size_t index) { shown_.push_back({.index = index}); }

  // The last shown result of the site if it has as many as it may; null if it may have more.
  FoldedResult* LastOfFullSite(const std::string& site) {
    if (!rules_.folds_sites || site.empty()) return nullptr;
    FoldedResult* last = nullptr;
    size_t count = 0;
    for (FoldedResult& leader : shown_) {
      if (candidates_[leader.index].site != site) continue;
      ++count;
      if (last == nullptr || leader.index > last->index) last = &leader;
    }
    return count >= kShownOfSiteMax ? last : nullptr;
  }

  std::optional<size_t> BestFolded() const {
    std::optional<size_t> best;
    for (const FoldedResult& leader : shown_) {
      for (const size_t index : leader.more_of_site) {
        if (!best || index < *best) best = index;
      }
    }
    return best;
  }

  // What comes next is folded too, or good enough to take the place of `waiting`.
  bool MayReplace(size_t next, size_t waiting) {
    return candidates_[next].score >= kFoldScoreShare * candidates_[waiting].score;
  }

  void AskForMore() {
    const auto waiting = BestFolded();
    const double score_min = waiting ? kFoldScoreShare * candidates_[*waiting].score : 0;
    page_.wants_more = rules_.next_score && *rules_.next_score >= score_min;
    if (page_.wants_more) page_.wanted_score_min = score_min;
  }

  // What is ranked after the last shown result belongs to the next page.
  void EndAtLastShown() {
    page_.covered_count = shown_.back().index + 1;
    const auto is_beyond = [this](size_t index) { return index >= page_.covered_count; };
    for (FoldedResult& leader : shown_) {
      std::erase_if(leader.similar, is_beyond);
      std::erase_if(leader.more_of_site, is_beyond);
    }
  }

  // Shows it, with what is nearly the same and follows it; the rest of its site goes behind it.
  void Unfold(size_t index) {
    FoldedResult unfolded{.index = index};
    for (FoldedResult& leader : shown_) {
      const auto found = std::find(leader.more_of_site.begin(), leader.more_of_site.end(), index);
      if (found == leader.more_of_site.end()) continue;
      leader.more_of_site.erase(found);
      for (const size_t other : std::exchange(leader.more_of_site, {})) {
        const bool is_similar = IsNearDuplicate(candidates_[index], candidates_[other]);
        (is_similar ? unfolded.similar : unfolded.more_of_site).push_back(other);
      }
    }
    shown_.push_back(std::move(unfolded));
  }

  const std::span<const FoldCandidate> candidates_;
  const FoldingRules& rules_;
  std::vector<FoldedResult> shown_;
  FoldedPage page_;
};

}  // namespace

FoldedPage FoldPage(std::span<const FoldCandidate> candidates, const FoldingRules& rules) {
  return Folder(candidates, rules).Run();
}

bool IsNearDuplicate(const FoldCandidate& a, const FoldCandidate& b) {
  if (a.site != b.site) return false;
  const int distance = html::SignatureDistance(a.signature, b.signature);
  return distance <= (a.title == b.title ? kSameTitleBits : kNearDuplicateBits);
}

}  // namespace search::frontend
