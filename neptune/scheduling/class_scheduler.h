// The queues of one service module, one a service class, and which request is served next.
//
//                    ┌ gold   ▒▒▒     ┐  1. drop what would yield nothing
//   Push ─► class ─► ┤ silver ▒▒▒▒▒   ├  2. a class below its guaranteed share: the one with the largest gap
//                    └ bronze ▒▒▒▒▒▒▒ ┘  3. else the policy, of the heads of the queues         ─► Pick
//                         ▲
//                         └── OnServed: consumption of the class, predictions for its next requests
//
//   policy     the head with the smallest
//   fifo       time of arrival; what would wait for too much of its time is refused when it comes
//   edf        relative deadline
//   yid        relative deadline / expected yield
//   greedy     expected consumption / expected yield
//   adaptive   yid; greedy while more than 5 % of the requests of the last 30 s were dropped
//
// Of these, requests of one class are served first come, first served. A request's expected yield is that of the time it
// has waited and the mean time of its class's requests since they began.
//
//   waiting_cost   the oldest or newest of a class with the largest
//                  (V(w) - V(w + d)) / expected consumption + V(w) / (5 * relative deadline)
//
// V(w) is the yield to expect of a request that waited w, its time of service taken as exponential; d is how much longer
// it waits if it is not served now: what waits over the capacity, and while more comes than can be served, that excess
// over the time of the deadline. So with little to do it follows the deadlines as yid does, with too much it is greedy,
// and there is no switch between them. The newest comes first where the older ones have lost their yield already: under
// overload a class that is not served whole then gives full yield for a part instead of little for all.
//
// With waiting_cost guaranteed shares are of every short time, too: see guarantee_credit.h. With the papers' policies a class
// that had much more than its share is served nothing until its decayed consumption has come down to it, which from three
// times the share takes twenty seconds.
//
// Source: [Shen02] 4.4, figure 4.5, table 4.1.
// Departs from source: the time a request has waited counts in what it is expected to yield, not only its class's past; a
//   caller's own deadline counts where it comes before the class's. waiting_cost is ours.
// No I/O, no clock, no threads; the service's dispatcher owns it.
// Threads: thread-compatible.
// Units: times are TimePoint; consumption is processor time; yields are the operator's.
// Limits: kServiceClassCountMax classes; ServiceClassOptions::queue_length_max waiting requests each, one more is refused.
//   Pick is O(classes) and one pass over what is dropped; Remove is O(waiting requests).

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "neptune/base/ewma.h"
#include "neptune/base/time.h"
#include "neptune/scheduling/class_consumption.h"
#include "neptune/scheduling/class_threads.h"
#include "neptune/scheduling/drop_window.h"
#include "neptune/scheduling/expected_yield.h"
#include "neptune/scheduling/guarantee_credit.h"
#include "neptune/scheduling/scheduler_options.h"

namespace neptune {

// Names a waiting request; the dispatcher's own number.
using RequestTicket = uint64_t;

struct WaitingRequest {
  RequestTicket ticket = 0;
  TimePoint arrived;
  TimePoint deadline = kNever;  // the caller's
  ClassNumber service_class = 0;
};

class ClassScheduler {
 public:
  // REQUIRES: CheckSchedulerOptions(options).ok().
  explicit ClassScheduler(const SchedulerOptions& options = {});

  const ServiceClassOptions& options_of(ClassNumber number) const {
    return options_.classes[number];
  }
  size_t class_count() const { return queues_.size(); }

  enum class Entry {
    kTaken,
    kQueueFull,    // of its class
    kWaitTooLong,  // by SchedulerOptions::wait_share_max
  };
  // A request that is not taken is refused, and counts as dropped.
  Entry Push(const WaitingRequest& request);

  struct Picked {
    std::optional<WaitingRequest> next;
    // To be answered that they came too late, not served.
    std::vector<WaitingRequest> dropped;
  };
  // Takes the request to serve next, of the classes that have a free thread. The caller counts it there.
  Picked Pick(TimePoint now, const ClassThreads& threads);

  // Takes out a request whose caller is gone; false if it is not waiting.
  bool Remove(RequestTicket ticket);

  // A request that was picked has ended.
  void OnServed(ClassNumber service_class, Duration consumed, Duration served_for, TimePoint now);

  // When the request came that has waited longest; kNever if none waits.
  TimePoint OldestArrival() const;
  size_t length() const { return length_; }
  size_t length_of(ClassNumber number) const { return queues_[number].waiting.size(); }
  // Of the node's resources, lately.
  double ShareOf(ClassNumber number) const { return consumption_.Share(number); }
  // Whether `adaptive` is greedy now.
  bool IsOverloaded(TimePoint now) { return drops_.DropShare(now) > kOverloadDropShare; }

  static constexpr double kOverloadDropShare = 0.05;

 private:
  struct ClassQueue {
    std::deque<WaitingRequest> waiting;
    Ewma consumed_ns;
    ExpectedYield expected;
    // The longest response time that yields more than the drop share; absent: that is no question of time.
    std::optional<Duration> useful_for;
    ClassQueue(const ServiceClassOptions& options, const std::optional<double>& drop_share);
  };
  // What every decision asks of every class, all in a few cache lines.
  struct ClassFigures {
    size_t length = 0;
    // Of the oldest waiting request: when it is of no use to its caller or its class, and when it is to be dropped.
    TimePoint until = kNever;
    TimePoint drop_from = kNever;  // also if none waits
    Duration yield_deadline = Duration::max();
    double guarantee = 0;
  };
  // A request that may be served next.
  struct Candidate {
    ClassNumber service_class = 0;
    bool is_newest = false;  // else the oldest
    double cost = 0;         // of letting it wait; for waiting_cost
  };
  // How long what waits will take, and by how much more comes than can be served.
  struct Backlog {
    double drain_s = 0;
    double excess = 0;
  };

  void Drop(TimePoint now, Picked* picked);
  void DropOldest(ClassNumber number, TimePoint now, Picked* picked);
  // After anything that changed which request is the oldest, or what is expected of it.
  void UpdateFigures(ClassNumber number);
  TimePoint DropTime(ClassNumber number) const;
  bool MayRun(ClassNumber number, const ClassThreads& threads) const {
    return figures_[number].length > 0 && threads.HasFree(number);
  }
  // Above 0: of what it is guaranteed, the class has less than it should.
  double GapOf(ClassNumber number) const;
  std::optional<Candidate> MostBelowGuarantee(TimePoint now, const ClassThreads& threads) const;
  std::optional<Candidate> FirstByPolicy(TimePoint now, const ClassThreads& threads);
  std::optional<Candidate> CostliestToWait(TimePoint now, const ClassThreads& threads) const;
  // The smaller the sooner.
  double PriorityOf(SchedulingPolicy policy, ClassNumber number, TimePoint now) const;
  Backlog BacklogAt(TimePoint now) const;
  // The oldest or the newest of the class.
  Candidate CostlierOf(ClassNumber number, const Backlog& backlog, TimePoint now) const;
  // The larger the sooner. The delay is in steps of what the class is expected to yield.
  double CostOfWaiting(const WaitingRequest& request, double delay_steps, TimePoint now) const;
  bool WouldWaitTooLong(const WaitingRequest& request) const;
  void NotePick(TimePoint now);
  // When it is of no use any more, to the caller or by its class.
  TimePoint UntilOf(const WaitingRequest& request) const;
  static Duration TimeLeft(TimePoint until, TimePoint now) {
    return until == kNever ? Duration::max() : until - now;
  }
  // Of the oldest of the class.
  double YieldIfServed(ClassNumber number, TimePoint now) const;

  const SchedulerOptions options_;
  std::vector<ClassQueue> queues_;
  std::vector<ClassFigures> figures_;  // of each of them
  // Of a request of each, in the mean; next to nothing while none has ended.
  std::vector<double> consumption_ns_;
  ClassConsumption consumption_;
  GuaranteeCredit credit_;  // for waiting_cost
  DropWindow drops_;
  DecayedCounter demand_;  // expected consumption of what came, in seconds
  // Between picks while others wait: how fast the queue moves.
  Ewma pick_gap_ns_;
  std::optional<TimePoint> waiting_since_pick_;  // the latest pick, if it left others waiting
  size_t length_ = 0;
};

}  // namespace neptune
