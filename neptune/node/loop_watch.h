// Watches a node's event loops: a loop that answers nothing is reported, whatever hangs it.
//
//   ticker on the control loop ─┐  a task is posted to each loop that has answered the last one;
//   ticker on the admin loop   ─┴► the time until it runs is the loop's delay
//
// Two tickers, because one that hangs with its loop sees nothing; while neither does, one of them
// asks each loop. The state of a loop is computed from the age of its unanswered task when it is
// asked for, on any loop.
//
// A loop that may be busy runs users' code for as long as that takes. Its delay is shown, and it is
// never stalled; a service that makes no progress there is found by its queue
// (ServiceHost::Stalled).
//
// A ticker that was itself late (the process was suspended, or its loop hung) counts from now
// instead of blaming the others.
//
// Threads: Add, Start and Stop on the control loop; the rest anywhere: before Start there are no
//   loops.
// Units: times are those of the loops.
// Limits: one unanswered task a loop.

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/base/time.h"
#include "neptune/world/loop.h"

namespace neptune {

// Together with StallWatch's interval and the publisher's delay: a node with a stalled loop
// announces so within 2 s.
inline constexpr Duration kLoopBeat = std::chrono::milliseconds(200);
inline constexpr Duration kLoopStallTime = std::chrono::milliseconds(1400);
// The longest delay of a loop is that of the current and of the previous period.
inline constexpr Duration kLongestDelayPeriod = std::chrono::minutes(1);

class LoopWatch {
 public:
  enum class Duty {
    kServes,     // a node whose loop is stalled is not to be called
    kAnswers,    // stalled loops are reported
    kMayBeBusy,  // is never stalled
  };

  LoopWatch() = default;
  ~LoopWatch();
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;

  // `loop` outlives the watch and its tasks.
  // REQUIRES: before Start.
  void Add(std::string name, Loop& loop, Duty duty);
  // Begins to watch: `first`, which is the calling loop, and `second` tick. `second` may be null.
  // Errors: the metrics have no room.
  Status Start(Loop& first, Loop* second, MetricsRegistry& metrics);
  // Ends the watch; no loop is stalled from then on. Idempotent.
  void Stop();

  // False while a loop that serves is stalled.
  bool CanServe(TimePoint now) const;
  // "loop serve-0 has not answered for 2.1 s" for each stalled loop.
  std::vector<std::string> Complaints(TimePoint now) const;
  void Describe(TimePoint now, StatusReport* report) const;

 private:
  struct Watched;
  struct Ticker;

  Status AddMetrics(MetricsRegistry& metrics);
  // Asks every loop that owes no answer, and asks again in a kLoopBeat.
  static void Tick(const std::shared_ptr<Ticker>& ticker);

  std::vector<std::shared_ptr<Watched>> loops_;  // complete once started_
  std::atomic<bool> started_{false};
  std::vector<std::shared_ptr<Ticker>> tickers_;
  std::vector<CallbackGauge> gauges_;
};

}  // namespace neptune
