// W-TinyLFU eviction policy: a small LRU window takes new entries; one that leaves it is admitted
// to the main part only if it was asked for more often lately than the entries that it would
// replace.
//
// The main part is segmented: probation, and protected for entries used again there. How often an
// id was asked for, resident or not, is estimated by a sketch, so that a scan of entries asked for
// once passes through the window and leaves the main part as it is.
//
// Source: [Einziger17] sections 3 and 4 (policy), [Einziger22] (victims in bytes: the candidate is
//   compared with the sum over all entries that must go), [Einziger18] (adaptive window).
// Departs from source: an entry whose bound is passed goes to probation without a contest while the
//   cache has room; ties are lost by the candidate, always. An entry that is larger than the window
//   faces the contest at once and may be refused.
// Threads: thread-compatible.
// Limits: those of eviction_policy.h; the sketch grows with the number of entries. Cost: O(1); a
//   candidate is compared with at most kVictimCountMax entries.

#pragma once

#include <cstdint>
#include <vector>

#include "cache/eviction/entry_lists.h"
#include "cache/eviction/eviction_policy.h"
#include "cache/eviction/frequency_sketch.h"
#include "cache/eviction/window_climber.h"

namespace search::cache {

struct WTinyLfuOptions {
  // Share of the window. Larger: better for uses that follow each other closely, worse against
  // scans. Default: the source's.
  double window_share = 0.01;
  // Changes the share by what it did to hits, from window_share on.
  bool adapts_window = false;
  // Compares the time that entries save, that is their frequencies times their costs.
  bool weighs_cost = false;
};

class WTinyLfu final : public EvictionPolicy {
 public:
  // Share of the main part for entries that were used again in it.
  static constexpr double kProtectedShare = 0.8;
  static constexpr size_t kVictimCountMax = 128;

  WTinyLfu(uint64_t size_max, const WTinyLfuOptions& options);

  void Touch(uint64_t id) override;
  // Replacing a resident entry counts as a use.
  bool Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) override;
  void Remove(uint64_t id) override;
  void Clear() override;

  bool Contains(uint64_t id) const override { return lists_.Find(id) != EntryLists::kNone; }
  uint64_t size() const override {
    return lists_.size(kWindow) + lists_.size(kProbation) + lists_.size(kProtected);
  }
  uint64_t entry_count() const override {
    return lists_.count(kWindow) + lists_.count(kProbation) + lists_.count(kProtected);
  }
  double window_share() const { return window_share_; }

 private:
  enum List : uint8_t { kWindow, kProbation, kProtected };
  using NodeIndex = EntryLists::NodeIndex;
  using Evicted = std::vector<uint64_t>;

  void Use(NodeIndex index);
  void SetWindowShare(double share);
  void CountForWindow(bool is_hit);
  void ShrinkProtected();
  void EmptyOverfullWindow(Evicted* evicted);
  void MakeRoom(Evicted* evicted);
  bool WinsContest(NodeIndex candidate, std::vector<NodeIndex>* victims) const;
  uint64_t WorthOf(NodeIndex index) const;
  void Evict(NodeIndex index, Evicted* evicted);

  const uint64_t size_max_;
  const WTinyLfuOptions options_;
  double window_share_ = 0;
  uint64_t window_size_max_ = 0;
  uint64_t protected_size_max_ = 0;
  EntryLists lists_;
  FrequencySketch sketch_;
  WindowClimber climber_;
  std::vector<NodeIndex> victims_;  // kept for its memory
};

}  // namespace search::cache
