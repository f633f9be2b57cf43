// What a node concludes from the pulses of another one.
//
//   never heard ──pulse──► heard ──kPulseSilenceMax without one──► silent ──pulse──► heard
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <cstdint>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/replication/agent/node_pulse.h"

namespace neptune {

inline constexpr Duration kPulseInterval = std::chrono::milliseconds(100);
// Below the election timeout, which members of a silent node's partitions count from its last
// pulse.
inline constexpr Duration kPulseSilenceMax = std::chrono::milliseconds(300);

// Which of two nodes calls the other: one does, and the other only if that one's calls fail.
enum class PulseTurn {
  kCalls,    // every kPulseInterval
  kAnswers,  // is called
};

class PulsePeer {
 public:
  struct News {
    // It is heard for the first time, or again.
    bool is_heard = false;
    // What it led has ended, without a list of it: it has restarted, or its list was lost.
    bool have_all_ended = false;
    std::vector<LeadEnd> ends;
  };
  News Hear(const NodePulse& pulse, TimePoint now);
  // True if it has just become silent.
  bool CheckSilence(TimePoint now);

  bool is_heard() const { return is_heard_; }
  TimePoint heard_at() const { return heard_at_; }
  // When CheckSilence will be true; kNever: it is not heard.
  TimePoint silent_at() const { return is_heard_ ? heard_at_ + kPulseSilenceMax : kNever; }
  // True if this node is to call it now.
  bool MustCall(PulseTurn turn, TimePoint now) const {
    return !is_heard_ || now - heard_at_ >= (turn == PulseTurn::kCalls ? kCallAfter : kAnswerAfter);
  }

 private:
  // Time since it was heard. Both find it fresh if the calls of one of them arrive somewhat late;
  // the one that answers calls early enough to be answered before it counts as silent.
  static constexpr Duration kCallAfter = kPulseInterval / 2;
  static constexpr Duration kAnswerAfter = kPulseInterval * 6 / 5;

  bool is_heard_ = false;
  TimePoint heard_at_{};
  uint64_t incarnation_ = 0;  // 0: never heard
  uint64_t end_count_ = 0;
};

}  // namespace neptune
