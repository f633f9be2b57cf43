// Looks for another spelling on a user-level thread of its own, while the search goes on.
//
// Threads: on a user-level thread; the lookup may outlive its search, but not `suggester` and
//   `running_count`.
// Limits: the order's deadline.

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "frontend/suggest/suggester.h"
#include "neptune/base/metrics.h"
#include "neptune/service/client.h"
#include "neptune/thread/synchronization.h"

namespace search::frontend {

struct SpellingTools {
  const Suggester* suggester = nullptr;
  neptune::HistogramMetric* time = nullptr;      // of each lookup
  std::atomic<size_t>* running_count = nullptr;  // lookups in progress
};

class SpellingLookup {
 public:
  static std::shared_ptr<SpellingLookup> Start(const SpellingTools& tools,
                                               const neptune::ClientSession& session,
                                               SpellOrder order);

  // Waits for the result; an incomplete one if it does not come in time.
  SpellingResult Await();

 private:
  explicit SpellingLookup(neptune::TimePoint deadline) : deadline_(deadline) {}

  const neptune::TimePoint deadline_;
  SpellingResult result_;
  neptune::OneShotEvent done_;
};

}  // namespace search::frontend
