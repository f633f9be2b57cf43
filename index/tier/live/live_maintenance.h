// Keeps the live tiers of a service fresh. On a low-priority loop of its own it makes noted changes
// searchable every kRefreshInterval; in between it merges in pieces short enough not to delay a
// refresh.
//
// Threads: Start and Stop by the owner; the loop's thread does the work.
// Errors: an error of Refresh or MergeSome is logged and counted; the next turn retries.
// Limits: kMergePiece postings between two checks of the clock.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/tier/live/live_tier.h"
#include "index/tier/live/merge_record.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/world/world.h"

namespace search::index {

// About 10 ms of work. Larger: fewer interruptions; a refresh may have to wait for one step.
inline constexpr uint64_t kMergePiece = 100'000;

struct MaintainedTier {
  LiveTier* tier = nullptr;
  MergeRecord* merges = nullptr;  // may be null
};

class LiveMaintenance : public std::enable_shared_from_this<LiveMaintenance> {
 public:
  // Starts the loop `name`. The tiers and their records must live until Stop has returned.
  static neptune::StatusOr<std::shared_ptr<LiveMaintenance>> Start(
      neptune::World& world, const std::string& name, std::vector<MaintainedTier> tiers);
  // Keeps this tier fresh too from the next turn on; no effect after Stop.
  void Add(const MaintainedTier& tier);
  // Waits for the current step; no tier is accessed after it returns. Idempotent.
  void Stop();

  uint64_t failure_count() const { return failure_count_; }

 private:
  explicit LiveMaintenance(std::vector<MaintainedTier> tiers) : tiers_(std::move(tiers)) {}

  void Turn();
  void Merge();
  void Note(const neptune::Status& status, const char* action);

  neptune::Loop* loop_ = nullptr;
  std::atomic<uint64_t> failure_count_{0};

  // Held during each step.
  neptune::LeafMutex mutex_;
  std::vector<MaintainedTier> tiers_ ABSL_GUARDED_BY(mutex_);
  bool has_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_merging_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace search::index
