#include "neptune/wire/connection_choice.h"

#include <tuple>

namespace neptune {

std::optional<size_t> ChooseIdle(const std::vector<ConnectionStanding>& all) {
  std::optional<size_t> best;
  const auto key = [&](size_t index) {
    return std::make_tuple(all[index].was_used, all[index].last_frame_at);
  };
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].is_idle && (!best || key(i) < key(*best))) best = i;
  }
  return best;
}

std::optional<size_t> ChooseStalled(const std::vector<ConnectionStanding>& all, TimePoint now,
                                    Duration grace) {
  std::optional<size_t> best;
  const auto is_worse = [&](size_t index, size_t than) {
    const ConnectionStanding& one = all[index];
    const ConnectionStanding& other = all[than];
    if (one.unsent_size != other.unsent_size) return one.unsent_size > other.unsent_size;
    return one.progress_at < other.progress_at;
  };
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].unsent_size == 0 || now - all[i].progress_at < grace) continue;
    if (!best || is_worse(i, *best)) best = i;
  }
  return best;
}

}  // namespace neptune
