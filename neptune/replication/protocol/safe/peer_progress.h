// What a primary knows of another member's log, and what it sends next.
//
//   probing: empty appends search for the last entry that both logs have
//   matched: entries follow it in messages; those that are not answered in time are sent again
//
// A member that answers within kFollowDelay has one message at a time, so that many writes share
// one. To a slower one, e.g. with a slow disk, further messages follow before it answers, so that
// its next flush has all that was written meanwhile.
//
// Limits: kInFlightMax messages and kInFlightEntryCountMax entries, and one message more, are in
// flight.
//
// Invariant: matched() < next entry to send; matched() never decreases.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <cstddef>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"
#include "neptune/replication/protocol/replica_message.h"

namespace neptune {

class PeerProgress {
 public:
  static constexpr size_t kInFlightMax = 16;
  static constexpr size_t kInFlightEntryCountMax = size_t{4} * kMessageEntryCountMax;
  static constexpr Duration kFollowDelay = std::chrono::milliseconds(10);

  PeerProgress() = default;
  // The search begins at the end of the primary's log.
  PeerProgress(Lsn last_lsn, TimePoint now) : next_(last_lsn + 1), resend_at_(now) {}

  // The logs are known to match up to here.
  Lsn matched() const { return matched_; }
  // True if the member has everything that was in the primary's log when it was last sent entries.
  bool keeps_up() const { return keeps_up_; }

  // Handles the answer that the logs match up to `matched`.
  void Match(Lsn matched, TimePoint now);
  // Handles the answer to what was sent at `sent_at`: the logs do not match at the entry asked
  // for: tries `matched` next, or sends again soon what is in flight.
  void Refuse(Lsn matched, TimePoint sent_at, TimePoint now);
  // The last message is probably lost: sends again at `retry_at`, if that is earlier.
  void Lose(TimePoint retry_at, TimePoint now);

  // True if something should be sent now, besides heartbeats.
  bool HasWork(Lsn last_lsn, TimePoint now) const {
    if (IsFree(now)) return is_probing_ || next_ <= last_lsn;
    return FollowAt(last_lsn) <= now;
  }
  // When a further message may follow those in flight; kNever: not before an answer, or there is
  // nothing more to send.
  TimePoint FollowAt(Lsn last_lsn) const {
    const bool may_follow = !in_flight_.empty() && in_flight_.size() < kInFlightMax &&
                            in_flight_.back().end < matched_ + kInFlightEntryCountMax;
    if (!may_follow || in_flight_.back().end >= last_lsn) return kNever;
    return in_flight_.back().sent_at + kFollowDelay;
  }

  // The primary's log: its last dropped entry and its last one.
  struct LogRange {
    Lsn base = 0;
    Lsn last = 0;
  };
  struct Sending {
    bool is_behind = false;  // the entries that the member lacks were dropped
    Lsn prev = 0;            // the entry before those to send
    Lsn entries_to = 0;      // prev: no entries
  };
  // Decides what to send and notes that it was sent; it is sent again after `resend_delay`.
  // `is_fed`: entries may be sent to the member.
  Sending Send(LogRange log, bool is_fed, Duration resend_delay, TimePoint now);

 private:
  struct InFlight {
    Lsn end = 0;        // its last entry; a message may have fewer entries, if they are large
    Lsn last_then = 0;  // the end of the log when it was sent
    TimePoint sent_at{};
  };

  bool IsFree(TimePoint now) const { return resend_at_ <= now; }

  Lsn matched_ = 0;
  Lsn next_ = 1;
  bool is_probing_ = true;
  TimePoint resend_at_{};  // entries or a probe are in flight until then
  std::vector<InFlight> in_flight_;
  // The end of the log when entries were last sent to the member.
  Lsn last_when_sent_ = 0;
  bool keeps_up_ = false;
};

}  // namespace neptune
