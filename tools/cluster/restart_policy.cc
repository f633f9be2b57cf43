#include "tools/cluster/restart_policy.h"

#include <algorithm>

namespace search::tools {

neptune::TimePoint RestartPolicy::OnDeath(neptune::TimePoint started, neptune::TimePoint now) {
  ++death_count_;
  if (now - started >= options_.healthy_after) deaths_in_a_row_ = 0;
  if (++deaths_in_a_row_ == 1) return now;
  neptune::Duration pause = options_.pause_first;
  for (int i = 2; i < deaths_in_a_row_ && pause < options_.pause_max; ++i) pause *= 2;
  return now + std::min(pause, options_.pause_max);
}

}  // namespace search::tools
