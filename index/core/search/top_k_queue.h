// The k best documents so far, and the score that enters the queue (the threshold).
//
// Threads: thread-compatible.
// Ties: of equal scores the smaller doc_id is better, in whatever order documents come. Order is by
//   the score as it is reported (ToScore), which rounds sums above 256, so that merging results of
//   partitions orders the same way.
// Limits: holds at most k entries.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "index/core/search/score.h"

namespace search::index {

class TopKQueue {
 public:
  struct Entry {
    float score = 0;
    uint32_t ordinal = 0;
  };

  // `prune` false: required() stays 0, for exhaustive evaluation. `doc_ids` by ordinal; empty if
  // doc_ids ascend. `doc_ids` must outlive the queue.
  TopKQueue(size_t k, bool prune, std::span<const uint64_t> doc_ids = {})
      : k_(k), prune_(prune), better_{doc_ids} {
    entries_.reserve(k);
    if (k == 0) required_ = prune ? UINT32_MAX : 0;
  }

  size_t k() const { return k_; }
  // Smallest units that can enter; 0 until k documents are in or the threshold was raised.
  ScoreUnits required() const { return required_; }
  bool CanEnter(uint64_t units_at_most) const { return units_at_most >= required_; }

  // Raises the threshold to `units`. REQUIRES: at least k documents with that score will be
  // offered.
  void RaiseBar(ScoreUnits units) {
    if (prune_) required_ = std::max(required_, LeastAsGood(ToScore(units), units));
  }

  void Offer(uint32_t ordinal, ScoreUnits units) {
    const Entry entry{ToScore(units), ordinal};
    if (entries_.size() < k_) {
      entries_.push_back(entry);
      std::push_heap(entries_.begin(), entries_.end(), better_);
      if (entries_.size() == k_) UpdateRequired();
    } else if (k_ > 0 && better_(entry, entries_.front())) {
      std::pop_heap(entries_.begin(), entries_.end(), better_);
      entries_.back() = entry;
      std::push_heap(entries_.begin(), entries_.end(), better_);
      UpdateRequired();
    }
  }

  // Best first. Empties the queue.
  std::vector<Entry> Take() {
    std::sort(entries_.begin(), entries_.end(), better_);
    return std::move(entries_);
  }

 private:
  struct Better {
    std::span<const uint64_t> doc_ids;
    bool operator()(const Entry& a, const Entry& b) const {
      if (a.score != b.score) return a.score > b.score;
      if (doc_ids.empty()) return a.ordinal < b.ordinal;
      return doc_ids[a.ordinal] < doc_ids[b.ordinal];
    }
  };

  // The smallest units, at most `units`, for which ToScore returns the score.
  static ScoreUnits LeastAsGood(float score, ScoreUnits units) {
    while (units > 0 && ToScore(units - 1) == score) --units;
    return units;
  }

  // An equal score may still enter by its doc_id.
  void UpdateRequired() {
    if (!prune_) return;
    const float worst = entries_.front().score;
    const auto units = static_cast<ScoreUnits>(worst * kUnitsPerScore);
    required_ = std::max(required_, LeastAsGood(worst, units));
  }

  size_t k_;
  bool prune_;
  Better better_;
  ScoreUnits required_ = 0;
  std::vector<Entry> entries_;  // heap with the worst entry in front
};

}  // namespace search::index
