// Sends a plan's requests at their times whatever became of earlier ones, and measures from those
// times, so that a slow server cannot hide its slowness (no coordinated omission).
//
//   plan ─ timer ─► Send ─► LoadTarget ─► Sent, Done ─► Measurement ─► chunk ─ every tick ─► observer
//                     └► in flight, by time of sending ─ timer ─► given up after the timeout
//
// Threads: its loop's own.
// Limits: at most kBurstMax requests are sent per loop iteration, so that answers are read in
//   between. A target that refuses every connection for refused_max ends the run.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/world/loop.h"
#include "tools/replay/load_target.h"

namespace search::tools {

// Counts since the run began.
struct LoadProgress {
  int64_t now_ns = 0;
  uint64_t sent_count = 0;
  uint64_t done_count = 0;
  uint64_t answered_count = 0;
  uint64_t held_count = 0;  // requests that had to wait for a connection
  size_t in_flight_count = 0;
};

class LoadObserver {
 public:
  virtual ~LoadObserver() = default;
  // Called on the loop with the requests that ended since the last call; may be empty.
  virtual void HandleFinished(std::vector<Measurement> finished, const LoadProgress& progress) = 0;
  // The last call. An error means that the run ended before its plan, and why.
  virtual void HandleEnd(const neptune::Status& status) = 0;
};

struct OpenLoopOptions {
  // A request without an answer within this time of being sent is lost.
  neptune::Duration timeout = std::chrono::seconds(5);
  neptune::Duration tick = std::chrono::milliseconds(200);
  // Time between Start and the run's time 0.
  neptune::Duration lead = std::chrono::milliseconds(100);
  neptune::Duration refused_max = std::chrono::seconds(5);
};

class OpenLoop final : private RequestSink {
 public:
  static constexpr int kBurstMax = 256;

  // REQUIRES: all arguments outlive the run.
  OpenLoop(neptune::Loop& loop, const ReplayPlan& plan, LoadTarget& target,
           const OpenLoopOptions& options, LoadObserver& observer);
  ~OpenLoop() override;

  void Start();
  // Stops sending; requests in flight are abandoned and not measured. Calls the observer's
  // HandleEnd before it returns.
  void Stop(const neptune::Status& why);

 private:
  void Sent(uint32_t request) override;
  void Done(uint32_t request, Outcome outcome, const AnswerFacts& facts) override;
  void Refused(const neptune::Status& why) override;

  int64_t NowNs() const { return (loop_.Now() - zero_).count(); }
  void PlanNext();
  void SendDue();
  void Finish(uint32_t request, Outcome outcome, const AnswerFacts& facts);
  void PlanTimeout();
  void DropTimedOut();
  void Tick();
  void Flush();
  void EndIfDone();

  neptune::Loop& loop_;
  const ReplayPlan& plan_;
  LoadTarget& target_;
  const OpenLoopOptions options_;
  LoadObserver& observer_;
  neptune::TimePoint zero_;
  uint32_t next_ = 0;
  std::unordered_map<uint32_t, int64_t> in_flight_;  // request to the time it was sent
  std::deque<std::pair<int64_t, uint32_t>>
      give_up_;  // ordered by time; the request may be answered already
  std::vector<Measurement> finished_;
  LoadProgress progress_;
  int64_t refused_since_ns_ = -1;
  neptune::TimerId send_timer_ = 0;
  neptune::TimerId timeout_timer_ = 0;
  neptune::TimerId tick_timer_ = 0;
  bool running_ = false;
};

}  // namespace search::tools
