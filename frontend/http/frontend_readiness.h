// Whether this frontend should get users: partitions with live replicas, start-up and draining.
//
// Threads: thread-safe; WaitForMembership on a user-level thread.

#pragma once

#include <atomic>

#include "frontend/http/readiness.h"
#include "frontend/policy/plan_options.h"
#include "neptune/base/time.h"
#include "neptune/service/client.h"

namespace search::frontend {

class FrontendReadiness {
 public:
  // `client` and `plan` outlive this. REQUIRES: on a user-level thread.
  FrontendReadiness(neptune::Client& client, const SearchPlanOptions& plan,
                    neptune::Duration meeting_timeout);

  Readiness Current() const { return ComputeReadiness(*client_.View(), plan_); }

  // Parks until every partition is known or the meeting timeout after the start has passed: other
  // nodes' announcements arrive shortly after the start. Later calls return at once.
  void WaitForMembership();

  void StartDraining() { is_draining_ = true; }
  bool is_draining() const { return is_draining_; }
  neptune::TimePoint started() const { return started_; }

 private:
  neptune::Client& client_;
  const SearchPlanOptions& plan_;
  const neptune::TimePoint started_;
  const neptune::Duration meeting_timeout_;
  std::atomic<bool> is_draining_{false};
  std::atomic<bool> has_met_{false};
};

}  // namespace search::frontend
