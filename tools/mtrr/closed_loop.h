// Keeps a fixed number of requests outstanding: each answer triggers the next request, so that all
// threads of the server stay busy.
//
//   requests ─► fixed number    ─► LoadTarget ─► done ─► counted while it is measured ─► the next
//
// Source: [Jamjoom04] II (an arrival rate high enough to keep all threads busy). Departs from
//   source: a closed loop, which fills every thread at any speed and no queue beyond that.
// Threads: its loop's own.
// Limits: the plan's number of requests at once.

#pragma once

#include <cstdint>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/world/loop.h"
#include "tools/replay/load_target.h"

namespace search::tools {

struct ClosedLoopCounts {
  uint64_t answered_count = 0;
  uint64_t failed_count = 0;  // any other outcome
  double elapsed_s = 0;

  double throughput() const {
    return elapsed_s > 0 ? static_cast<double>(answered_count) / elapsed_s : 0;
  }
};

class ClosedLoop final : private RequestSink {
 public:
  // REQUIRES: all arguments outlive the load; `plan` has more requests than are sent at once.
  ClosedLoop(neptune::Loop& loop, const ReplayPlan& plan, LoadTarget& target)
      : loop_(loop), plan_(plan), target_(target) {}
  ~ClosedLoop() override;

  void Start(int at_once);
  // Start and stop counting answers.
  void BeginCount();
  ClosedLoopCounts EndCount();
  // Sends no more; `on_drained` runs on the loop once nothing is in flight, so that the next
  // measurement finds the queues empty.
  void Drain(neptune::Task on_drained);
  // Stops sending without waiting for requests in flight.
  void Stop();
  // Error of the last refused connection; OK if none was refused.
  const neptune::Status& refused() const { return refused_; }

 private:
  void Sent(uint32_t) override {}
  void Done(uint32_t request, Outcome outcome, const AnswerFacts& facts) override;
  void Refused(const neptune::Status& why) override { refused_ = why; }
  void SendOne();

  neptune::Loop& loop_;
  const ReplayPlan& plan_;
  LoadTarget& target_;
  uint32_t next_ = 0;
  std::vector<bool> under_way_ = std::vector<bool>(plan_.requests.size());
  int under_way_count_ = 0;
  bool running_ = false;
  neptune::Task on_drained_;
  ClosedLoopCounts counts_;
  neptune::TimePoint counted_from_;
  neptune::Status refused_;
};

}  // namespace search::tools
