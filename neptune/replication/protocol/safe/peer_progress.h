// What a primary knows of another member's log, and what it sends next.
//
//   probing: empty appends search for the last entry that both logs have
//   matched: entries follow it, one message at a time; an unanswered one is sent again later
//
// Invariant: matched() < next entry to send; matched() never decreases.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"

namespace neptune {

class PeerProgress {
 public:
  PeerProgress() = default;
  // The search begins at the end of the primary's log.
  PeerProgress(Lsn last_lsn, TimePoint now) : next_(last_lsn + 1), resend_at_(now) {}

  // The logs are known to match up to here.
  Lsn matched() const { return matched_; }
  // True if the member has everything that was in the primary's log when it was last sent entries.
  bool keeps_up() const { return keeps_up_; }

  // Handles the answer that the logs match up to `matched`.
  void Match(Lsn matched, TimePoint now);
  // Handles the answer that the logs do not match at the entry asked for; tries `matched` next.
  void Refuse(Lsn matched, TimePoint now);
  // The last message is probably lost: sends again at `retry_at`, if that is earlier.
  void Lose(TimePoint retry_at, TimePoint now);

  // True if something should be sent now, besides heartbeats.
  bool HasWork(Lsn last_lsn, TimePoint now) const {
    return resend_at_ <= now && (is_probing_ || next_ <= last_lsn);
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
  Lsn matched_ = 0;
  Lsn next_ = 1;
  bool is_probing_ = true;
  TimePoint resend_at_{};  // entries or a probe are in flight until then
  // The end of the log when entries were last sent to the member.
  Lsn last_when_sent_ = 0;
  bool keeps_up_ = false;
};

}  // namespace neptune
