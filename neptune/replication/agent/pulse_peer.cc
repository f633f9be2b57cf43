#include "neptune/replication/agent/pulse_peer.h"

#include <algorithm>
#include <utility>

namespace neptune {

PulsePeer::News PulsePeer::Hear(const NodePulse& pulse, TimePoint now) {
  News news;
  news.is_heard = !std::exchange(is_heard_, true);
  heard_at_ = now;
  const bool is_first = incarnation_ == 0;
  const bool has_restarted = !is_first && incarnation_ != pulse.incarnation;
  incarnation_ = pulse.incarnation;
  // A pulse may overtake a later one of the same start.
  if (!is_first && !has_restarted && pulse.end_count <= end_count_) return news;
  const uint64_t new_count = pulse.end_count - (has_restarted ? 0 : end_count_);
  news.have_all_ended = has_restarted || (!is_first && new_count > pulse.ends.size());
  end_count_ = pulse.end_count;
  if (is_first || news.have_all_ended) return news;
  news.ends.assign(pulse.ends.end() - static_cast<ptrdiff_t>(new_count), pulse.ends.end());
  return news;
}

bool PulsePeer::CheckSilence(TimePoint now) {
  if (!is_heard_ || now - heard_at_ < kPulseSilenceMax) return false;
  is_heard_ = false;
  return true;
}

}  // namespace neptune
