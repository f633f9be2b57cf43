#include "frontend/search_plan/background_searches.h"

#include <utility>

#include "neptune/thread/user_thread.h"

namespace search::frontend {

void BackgroundSearches::Start(absl::AnyInvocable<neptune::Status()> search) {
  if (count_.fetch_add(1) >= count_max_ || stops_) {
    --count_;
    metrics_.refresh_dropped->Increment();
    return;
  }
  const auto started = neptune::ThreadScheduler::Current()->Spawn(
      [this, search = std::move(search)]() mutable {
        const neptune::Status status = search();
        (status.ok() ? metrics_.refresh_done : metrics_.refresh_failed)->Increment();
        --count_;
      },
      "refresh");
  if (started.ok()) return;
  --count_;
  metrics_.refresh_dropped->Increment();
}

}  // namespace search::frontend
