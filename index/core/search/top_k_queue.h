// The k best documents so far, and the score a further one must have.
//
// Source: none. Layer: index/core, search. Threads: thread-compatible.
// Ties: documents come in ascending order; of equal scores the earlier stays. Order is by the score
//   as it is reported (ToScore), which rounds sums above 256, so that merging results of partitions
//   orders the same way.
// Limits: holds at most k entries.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "index/core/search/score.h"

namespace search::index {

class TopKQueue {
 public:
  struct Entry {
    float score = 0;
    uint32_t ordinal = 0;
  };

  // `prune` false: required() stays 0, for exhaustive evaluation.
  TopKQueue(size_t k, bool prune) : k_(k), prune_(prune) {
    entries_.reserve(k);
    if (k == 0) required_ = prune ? UINT32_MAX : 0;
  }

  // Least units a document needs to enter; 0 until k are there.
  ScoreUnits required() const { return required_; }
  bool CanEnter(uint64_t units_at_most) const { return units_at_most >= required_; }

  // REQUIRES: ordinals ascend from call to call.
  void Offer(uint32_t ordinal, ScoreUnits units) {
    const Entry entry{ToScore(units), ordinal};
    if (entries_.size() < k_) {
      entries_.push_back(entry);
      std::push_heap(entries_.begin(), entries_.end(), Better);
      if (entries_.size() == k_) UpdateRequired();
    } else if (k_ > 0 && entry.score > entries_.front().score) {
      std::pop_heap(entries_.begin(), entries_.end(), Better);
      entries_.back() = entry;
      std::push_heap(entries_.begin(), entries_.end(), Better);
      UpdateRequired();
    }
  }

  // Best first. Empties the queue.
  std::vector<Entry> Take() {
    std::sort(entries_.begin(), entries_.end(), Better);
    return std::move(entries_);
  }

 private:
  static bool Better(const Entry& a, const Entry& b) {
    return a.score != b.score ? a.score > b.score : a.ordinal < b.ordinal;
  }

  void UpdateRequired() {
    if (!prune_) return;
    const float worst = entries_.front().score;
    required_ = static_cast<ScoreUnits>(worst * kUnitsPerScore) + 1;
    while (ToScore(required_) <= worst) ++required_;
  }

  size_t k_;
  bool prune_;
  ScoreUnits required_ = 0;
  std::vector<Entry> entries_;  // heap, worst in front
};

}  // namespace search::index
