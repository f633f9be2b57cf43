#include "neptune/replication/protocol/safe/peer_progress.h"

#include <algorithm>

#include "neptune/replication/protocol/replica_message.h"

namespace neptune {

void PeerProgress::Match(Lsn matched, TimePoint now) {
  if (matched > matched_ || is_probing_) resend_at_ = now;
  is_probing_ = false;
  matched_ = std::max(matched_, matched);
  next_ = matched_ + 1;
  keeps_up_ = matched_ >= last_when_sent_;
}

void PeerProgress::Refuse(Lsn matched, TimePoint now) {
  if (!is_probing_ || matched + 1 >= next_) return;
  next_ = std::max(matched, matched_) + 1;
  resend_at_ = now;
}

void PeerProgress::Lose(TimePoint retry_at, TimePoint now) {
  if (resend_at_ > now) resend_at_ = std::min(resend_at_, retry_at);
}

PeerProgress::Sending PeerProgress::Send(LogRange log, bool is_fed, Duration resend_delay,
                                         TimePoint now) {
  const bool is_free = resend_at_ <= now;
  if (is_free) resend_at_ = now + resend_delay;
  const Lsn prev = next_ - 1;
  if (prev < log.base && is_fed) return {.is_behind = true, .prev = log.base, .entries_to = 0};
  Sending sending;
  sending.prev = std::max(prev, log.base);
  const bool with_entries = is_free && !is_probing_ && is_fed;
  if (is_free) last_when_sent_ = log.last;
  sending.entries_to =
      with_entries ? std::min(log.last, prev + kMessageEntryCountMax) : sending.prev;
  if (is_free && !is_probing_ && sending.entries_to == sending.prev) resend_at_ = now;
  return sending;
}

}  // namespace neptune
