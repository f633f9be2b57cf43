#include "index/tier/live/live_maintenance.h"

#include <glog/logging.h>

#include <utility>

namespace search::index {

neptune::StatusOr<std::shared_ptr<LiveMaintenance>> LiveMaintenance::Start(
    neptune::World& world, const std::string& name, std::vector<MaintainedTier> tiers) {
  std::shared_ptr<LiveMaintenance> maintenance(new LiveMaintenance(std::move(tiers)));
  NEPTUNE_ASSIGN_OR_RETURN(
      maintenance->loop_,
      world.StartLoop({.name = name, .priority = neptune::LoopPriority::kBackground}));
  maintenance->loop_->Post([maintenance] { maintenance->Turn(); });
  return maintenance;
}

void LiveMaintenance::Stop() {
  neptune::LeafLock lock(&mutex_);
  has_stopped_ = true;
  tiers_.clear();
}

void LiveMaintenance::Add(const MaintainedTier& tier) {
  neptune::LeafLock lock(&mutex_);
  if (!has_stopped_) tiers_.push_back(tier);
}

void LiveMaintenance::Turn() {
  neptune::LeafLock lock(&mutex_);
  if (has_stopped_) return;
  for (const MaintainedTier& one : tiers_) Note(one.tier->Refresh().status(), "refreshing");
  if (!is_merging_) {
    is_merging_ = true;
    loop_->Post([self = shared_from_this()] { self->Merge(); });
  }
  loop_->RunAt(loop_->Now() + kRefreshInterval, [self = shared_from_this()] { self->Turn(); });
}

// Runs one step of each tier's merge; the loop's timers run between the steps.
void LiveMaintenance::Merge() {
  neptune::LeafLock lock(&mutex_);
  is_merging_ = false;
  for (const MaintainedTier& one : tiers_) {
    const neptune::TimePoint begin = loop_->Now();
    const auto progress = one.tier->MergeSome(kMergePiece);
    if (one.merges != nullptr) one.merges->Note(begin, progress, loop_->Now());
    Note(progress.status(), "merging");
    is_merging_ = is_merging_ || (progress.ok() && *progress != MergeProgress::kNothingToDo);
  }
  if (is_merging_) loop_->Post([self = shared_from_this()] { self->Merge(); });
}

void LiveMaintenance::Note(const neptune::Status& status, const char* action) {
  if (status.ok()) return;
  ++failure_count_;
  LOG_EVERY_N(ERROR, 50) << action << " live documents failed: " << status;
}

}  // namespace search::index
