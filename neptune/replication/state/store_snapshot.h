// The snapshot of a StoreState: reads a view of its store in turns, as the pieces are wanted.
//
// Threads: thread-compatible; Next blocks.
// Errors: those of the storage.
// Limits: holds at most one piece and one pair more than that. The view keeps what is overwritten
//   meanwhile on the disk.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/status.h"
#include "neptune/replication/state/replicated_state.h"
#include "neptune/replication/state/snapshot_pieces.h"
#include "neptune/world/storage.h"

namespace neptune {

class StoreSnapshot final : public SnapshotSource {
 public:
  using KeyFilter = bool (*)(std::string_view key);
  // Sends the pairs of the view whose keys pass the filter; `completed` is the last write in them.
  StoreSnapshot(std::unique_ptr<KeyValueView> view, Lsn completed, KeyFilter is_sent)
      : view_(std::move(view)), completed_(completed), is_sent_(is_sent) {}

  Lsn completed() const override { return completed_; }
  bool is_done() const override { return was_read_ && writer_.size() == 0; }
  StatusOr<std::string> Next(size_t piece_size_max) override;

 private:
  Status ReadSome(size_t size);

  const std::unique_ptr<KeyValueView> view_;
  const Lsn completed_;
  const KeyFilter is_sent_;
  std::string next_key_;  // where reading resumes
  bool was_read_ = false;
  SnapshotWriter writer_;
};

}  // namespace neptune
