// Waits for the index version that a request names; called by request handlers.
//
// Threads: AwaitVersion on the user-level thread that serves the request.
// Errors: UNAVAILABLE if the version is still not open after the wait. A version list that other
//   nodes already use is usually loaded within moments.
// Limits: kVersionAwaitMax.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "index/versions/open_versions.h"
#include "neptune/service/service_module.h"

namespace search::index {

inline constexpr neptune::Duration kVersionAwaitMax = std::chrono::seconds(2);

template <typename Opened>
neptune::StatusOr<std::shared_ptr<Opened>> AwaitVersion(const neptune::RequestContext& context,
                                                        const OpenVersions<Opened>& versions,
                                                        uint64_t number) {
  constexpr neptune::Duration kLookAgain = std::chrono::milliseconds(10);
  const neptune::TimePoint end = context.Now() + kVersionAwaitMax;
  while (true) {
    if (auto found = versions.Find(number)) return found;
    if (context.Now() >= end) {
      return neptune::Unavailable("version ", number, " of the index is not open here");
    }
    NEPTUNE_RETURN_IF_ERROR(context.SleepUntil(std::min(end, context.Now() + kLookAgain)));
  }
}

}  // namespace search::index
