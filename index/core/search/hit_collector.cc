#include "index/core/search/hit_collector.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace search::index {
namespace {

// Cost of checking a phrase in a document out of order, relative to a document in order.
constexpr size_t kRandomCheckCost = 3;

}  // namespace

// Checks the pending documents in small groups. Starts with the best documents if, judging by the
// checks so far, few will be needed. Otherwise, or if that proves wrong, checks them in document
// order, which reads less.
void HitCollector::CheckPending() {
  const uint64_t missing = queue_->k() > outcome_.matched ? queue_->k() - outcome_.matched : 1;
  const uint64_t expected = missing * (checked_ + 1) / (outcome_.matched + 1);
  if (!checks_all_ && expected * kRandomCheckCost <= pending_.size()) CheckBest(2 * expected);
  std::array<Pending, PhraseGroup::kSizeMax> group;
  for (size_t next = 0; next < pending_.size() && !evaluation_->stopped();) {
    size_t count = 0;
    for (; count < group.size() && next < pending_.size(); ++next) {
      if (pending_[next].is_checked) continue;
      if (checks_all_ || queue_->CanEnter(pending_[next].units)) {
        group[count++] = pending_[next];
      } else {
        outcome_.pruned = true;
      }
    }
    CheckGroup({group.data(), count});
  }
  pending_.clear();
}

// Checks phrases for the `limit` best pending documents.
void HitCollector::CheckBest(size_t limit) {
  std::vector<uint32_t> heap(pending_.size());
  std::iota(heap.begin(), heap.end(), 0);
  const auto is_worse = [this](uint32_t a, uint32_t b) {
    const Pending& left = pending_[a];
    const Pending& right = pending_[b];
    return left.units != right.units ? left.units < right.units : left.ordinal > right.ordinal;
  };
  std::make_heap(heap.begin(), heap.end(), is_worse);
  std::array<Pending, PhraseGroup::kSizeMax> group;
  for (size_t done = 0; done < limit && !heap.empty() && !evaluation_->stopped();) {
    size_t count = 0;
    for (; count < group.size() && !heap.empty(); ++count) {
      std::pop_heap(heap.begin(), heap.end(), is_worse);
      Pending& next = pending_[heap.back()];
      if (!queue_->CanEnter(next.units)) break;
      heap.pop_back();
      next.is_checked = true;
      group[count] = next;
    }
    if (count == 0) return;  // no other can enter
    done += count;
    CheckGroup({group.data(), count});
  }
}

void HitCollector::CheckGroup(std::span<const Pending> group) {
  std::array<uint32_t, PhraseGroup::kSizeMax> ordinals;
  for (size_t i = 0; i < group.size(); ++i) ordinals[i] = group[i].ordinal;
  phrases_.Load({ordinals.data(), group.size()});
  for (size_t i = 0; i < group.size(); ++i) {
    const auto [units, ordinal, is_checked] = group[i];
    if (!checks_all_ && !queue_->CanEnter(units)) {
      outcome_.pruned = true;
      continue;
    }
    if (evaluation_->ShouldStop(kDocumentBlockSize)) return;
    ++checked_;
    if (!phrases_.Matches(i)) continue;
    if (!alternatives_.empty() && !alternatives_.Matches(ordinal)) continue;
    ++outcome_.matched;
    if (queue_->CanEnter(units)) queue_->Offer(ordinal, units);
  }
}

}  // namespace search::index
