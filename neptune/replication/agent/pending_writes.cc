#include "neptune/replication/agent/pending_writes.h"

#include <iterator>
#include <utility>

namespace neptune {

void PendingWrites::Add(std::shared_ptr<PendingWrite> write) {
  const Lsn lsn = write->lsn;
  if (write->id.given()) places_[write->id] = {lsn, write->epoch};
  writes_.emplace(lsn, std::move(write));
}

bool PendingWrites::Join(const std::shared_ptr<PendingWrite>& write, Epoch epoch) {
  const auto found = places_.find(write->id);
  if (found == places_.end() || found->second.epoch != epoch) return false;
  write->lsn = found->second.lsn;
  write->epoch = epoch;
  writes_.emplace(write->lsn, write);
  return true;
}

void PendingWrites::Deliver(std::vector<ExecutedEntry> executed) {
  for (auto& [entry, outcome] : executed) {
    if (writes_.empty()) return;  // on all members but the primary
    const auto [begin, end] = writes_.equal_range(entry.lsn);
    for (auto it = begin; it != end; ++it) {
      PendingWrite& pending = *it->second;
      const auto place = places_.find(pending.id);
      if (place != places_.end() && place->second.lsn == entry.lsn) places_.erase(place);
      if (pending.epoch == entry.epoch) {
        pending.outcome = std::next(it) == end ? std::move(outcome) : outcome;
      } else {
        pending.failure = Unavailable("another primary took over before the write was committed");
      }
      pending.done.Set();
    }
    writes_.erase(begin, end);
  }
}

void PendingWrites::FailUpTo(Lsn last) {
  const auto end = writes_.upper_bound(last);
  for (auto it = writes_.begin(); it != end; ++it) {
    it->second->failure = Unavailable("the replica restored data that may contain the write");
    it->second->done.Set();
  }
  writes_.erase(writes_.begin(), end);
  std::erase_if(places_, [last](const auto& place) { return place.second.lsn <= last; });
}

void PendingWrites::FailAll(const char* why) {
  places_.clear();
  for (auto& [lsn, pending] : std::exchange(writes_, {})) {
    pending->failure = Unavailable(why);
    pending->done.Set();
  }
}

}  // namespace neptune
