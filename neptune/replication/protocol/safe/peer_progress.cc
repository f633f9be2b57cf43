#include "neptune/replication/protocol/safe/peer_progress.h"

#include <algorithm>

namespace neptune {

void PeerProgress::Match(Lsn matched, TimePoint now) {
  const bool has_advanced = matched > matched_;
  matched_ = std::max(matched_, matched);
  next_ = matched_ + 1;
  if (!has_advanced && !is_probing_) {  // the answer to a heartbeat
    if (in_flight_.empty()) keeps_up_ = matched_ >= last_when_sent_;
    return;
  }
  is_probing_ = false;
  if (in_flight_.empty()) {  // the answer to a probe
    keeps_up_ = matched_ >= last_when_sent_;
    resend_at_ = now;
    return;
  }
  const bool is_whole = matched_ >= in_flight_.front().end;
  // The end of the log when the last of the answered messages was sent.
  Lsn last_then = in_flight_.front().last_then;
  for (const InFlight& sent : in_flight_) {
    if (sent.end <= matched_) last_then = sent.last_then;
  }
  keeps_up_ = matched_ >= last_then;
  std::erase_if(in_flight_, [this](const InFlight& sent) { return sent.end <= matched_; });
  // What follows a message that had not room for all its entries does not fit the member's log.
  if (!is_whole) in_flight_.clear();
  if (in_flight_.empty()) resend_at_ = now;
}

void PeerProgress::Refuse(Lsn matched, TimePoint now) {
  if (!is_probing_) {
    // A message came without the one before it, which is late or lost.
    if (!in_flight_.empty()) resend_at_ = std::min(resend_at_, now + kFollowDelay);
    return;
  }
  if (matched + 1 >= next_) return;
  next_ = std::max(matched, matched_) + 1;
  resend_at_ = now;
}

void PeerProgress::Lose(TimePoint retry_at, TimePoint now) {
  if (resend_at_ > now) resend_at_ = std::min(resend_at_, retry_at);
}

PeerProgress::Sending PeerProgress::Send(LogRange log, bool is_fed, Duration resend_delay,
                                         TimePoint now) {
  const bool is_free = IsFree(now);
  const bool follows = !is_free && is_fed && FollowAt(log.last) <= now;
  if (is_free) {
    keeps_up_ = keeps_up_ && in_flight_.empty();  // false: it has not answered
    in_flight_.clear();
  }
  if (is_free || follows) {
    last_when_sent_ = log.last;
    resend_at_ = now + resend_delay;
  }
  const Lsn prev = follows ? in_flight_.back().end : next_ - 1;
  if (prev < log.base && is_fed) {
    in_flight_.clear();
    return {.is_behind = true, .prev = log.base, .entries_to = 0};
  }
  Sending sending;
  sending.prev = std::max(prev, log.base);
  sending.entries_to = sending.prev;
  if (is_probing_ || !is_fed || !(is_free || follows)) return sending;
  sending.entries_to = std::min(log.last, prev + kMessageEntryCountMax);
  if (sending.entries_to == sending.prev) {
    resend_at_ = now;
  } else {
    in_flight_.push_back({.end = sending.entries_to, .last_then = log.last, .sent_at = now});
  }
  return sending;
}

}  // namespace neptune
