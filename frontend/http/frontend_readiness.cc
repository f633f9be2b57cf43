#include "frontend/http/frontend_readiness.h"

#include "neptune/thread/user_thread.h"

namespace search::frontend {

FrontendReadiness::FrontendReadiness(neptune::Client& client, const SearchPlanOptions& plan,
                                     neptune::Duration meeting_timeout)
    : client_(client),
      plan_(plan),
      started_(neptune::this_thread::Now()),
      meeting_timeout_(meeting_timeout) {}

void FrontendReadiness::WaitForMembership() {
  constexpr neptune::Duration kCheckInterval = std::chrono::milliseconds(5);
  if (has_met_.load(std::memory_order_relaxed)) return;
  const neptune::TimePoint end = started_ + meeting_timeout_;
  while (neptune::this_thread::Now() < end && !Current().complete) {
    if (neptune::this_thread::SleepFor(kCheckInterval) == neptune::ParkResult::kStopping) return;
  }
  has_met_ = true;
}

}  // namespace search::frontend
