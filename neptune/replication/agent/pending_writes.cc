#include "neptune/replication/agent/pending_writes.h"

#include <utility>

namespace neptune {

void PendingWrites::Add(std::shared_ptr<PendingWrite> write) {
  const Lsn lsn = write->lsn;
  writes_.emplace(lsn, std::move(write));
}

void PendingWrites::Deliver(const std::vector<ExecutedEntry>& executed) {
  for (const auto& [entry, outcome] : executed) {
    const auto [begin, end] = writes_.equal_range(entry.lsn);
    for (auto it = begin; it != end; ++it) {
      PendingWrite& pending = *it->second;
      if (pending.epoch == entry.epoch) {
        pending.outcome = outcome;
      } else {
        pending.failure = Unavailable("another primary took over before the write was committed");
      }
      pending.done.Set();
    }
    writes_.erase(begin, end);
  }
}

void PendingWrites::FailAll(const char* why) {
  for (auto& [lsn, pending] : std::exchange(writes_, {})) {
    pending->failure = Unavailable(why);
    pending->done.Set();
  }
}

}  // namespace neptune
