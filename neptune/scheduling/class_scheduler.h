// The queues of one service module, one for each service class, and the choice of the next request.
//
//                    ┌ gold   ▒▒▒     ┐  1. drop requests that would yield nothing
//   Push ─► class ─► ┤ silver ▒▒▒▒▒   ├  2. a class below its guarantee: the one furthest below
//                    └ bronze ▒▒▒▒▒▒▒ ┘  3. else the policy, among the heads of the queues  ─► Pick
//                         ▲
//                         └── OnServed: consumption of the class, predictions for its next requests
//
//   policy     serves the head with the smallest
//   fifo       arrival time; requests that would wait for too much of their time are refused early
//   edf        relative deadline
//   yid        relative deadline / expected yield
//   greedy     expected consumption / expected yield
//   adaptive   yid; greedy while more than 5 % of the requests of the last 30 s were dropped
//
// These policies serve requests of one class first come, first served. The expected yield of a
// request is its yield after the time it has waited plus the mean service time of its class.
//
//   waiting_cost   the oldest or newest request of a class with the largest
//                  (V(w) - V(w + d)) / expected consumption + V(w) / (5 * relative deadline)
//
// V(w) is the expected yield of a request that has waited w, with exponential service times. d is
// the additional wait if it is not served now: the time to serve the backlog plus, under overload,
// (demand / capacity - 1) times the class's deadline. With low load the policy follows deadlines as
// yid does, under overload it is greedy, and there is no switch between the two. The newest request
// comes first where the older ones have lost their yield already: a class that cannot be served
// completely then gets full yield for a part of its requests instead of little for all.
//
// With waiting_cost guaranteed shares hold over every short interval, see guarantee_credit.h. With
// the papers' policies a class that had much more than its share is not served until its decayed
// consumption has come down to the share, which takes twenty seconds from three times the share.
//
// Source: [Shen02] 4.4, figure 4.5, table 4.1.
// Departs from source: the expected yield depends on the time a request has waited, not only on its
//   class's past; a caller's own deadline counts if it is before the class's. waiting_cost is ours.
// No I/O, no clock, no threads; the service's dispatcher owns it.
// Threads: thread-compatible.
// Units: times are TimePoint; consumption is processor time; yields are in the operator's unit.
// Limits: kServiceClassCountMax classes; at most ServiceClassOptions::queue_length_max waiting
//   requests each, further ones are refused. Pick is O(classes) plus one pass over dropped
//   requests; Remove is O(waiting requests).

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

// Identifies a waiting request; numbered by the dispatcher.
using RequestTicket = uint64_t;

struct WaitingRequest {
  RequestTicket ticket = 0;
  TimePoint arrived;
  TimePoint deadline = kNever;  // deadline of the caller
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
    kQueueFull,    // the queue of the class is full
    kWaitTooLong,  // see SchedulerOptions::wait_share_max
  };
  // A request that is not accepted must be refused, and counts as dropped.
  Entry Push(const WaitingRequest& request);

  // For a caller that orders the requests of each class itself (admission_queue.h) instead of Push.
  // NoteArrival counts a request. Offer makes `next` the only candidate of the class, null: it has
  // none; `waiting_count` requests of the class wait, with it.
  void NoteArrival(const WaitingRequest& request, bool is_refused);
  void Offer(ClassNumber number, const WaitingRequest* next, size_t waiting_count);

  struct Picked {
    std::optional<WaitingRequest> next;
    // Requests that came too late: answer them with an error, do not serve them.
    std::vector<WaitingRequest> dropped;
  };
  // Removes and returns the request to serve next, from the classes with a free thread. The caller
  // updates `threads`.
  Picked Pick(TimePoint now, const ClassThreads& threads);

  // Removes a request whose caller is gone; returns false if it is not waiting.
  bool Remove(RequestTicket ticket);

  // Records that a picked request has ended.
  void OnServed(ClassNumber service_class, Duration consumed, Duration served_for, TimePoint now);

  // Arrival time of the request that has waited longest; kNever if none waits.
  TimePoint OldestArrival() const;
  size_t length() const { return length_; }
  size_t length_of(ClassNumber number) const { return queues_[number].waiting.size(); }
  // Recent share of the class in the node's consumption.
  double ShareOf(ClassNumber number) const { return consumption_.Share(number); }
  // Returns true if `adaptive` is greedy now.
  bool IsOverloaded(TimePoint now) { return drops_.DropShare(now) > kOverloadDropShare; }

  static constexpr double kOverloadDropShare = 0.05;

 private:
  struct ClassQueue {
    std::deque<WaitingRequest> waiting;
    size_t elsewhere = 0;  // requests that wait behind the one that was offered
    Ewma consumed_ns;
    ExpectedYield expected;
    // Longest response time that yields more than the drop share; nullopt: the yield does not
    // depend on time.
    std::optional<Duration> useful_for;
    ClassQueue(const ServiceClassOptions& options, const std::optional<double>& drop_share);
  };
  // The values every decision reads for every class, packed into a few cache lines.
  struct ClassFigures {
    size_t length = 0;
    // For the oldest waiting request: when it becomes useless to its caller or class, and when it
    // is to be dropped.
    TimePoint until = kNever;
    TimePoint drop_from = kNever;  // kNever if none waits
    Duration yield_deadline = Duration::max();
    double guarantee = 0;
  };
  // A candidate for the next request.
  struct Candidate {
    ClassNumber service_class = 0;
    bool is_newest = false;  // false: the oldest
    double cost = 0;         // cost of letting it wait, for waiting_cost
  };
  // The time needed to serve all waiting requests, and demand / capacity - 1 (at least 0).
  struct Backlog {
    double drain_s = 0;
    double excess = 0;
  };

  void Drop(TimePoint now, Picked* picked);
  void DropOldest(ClassNumber number, TimePoint now, Picked* picked);
  // Call it after any change of the oldest request or its expected yield.
  void UpdateFigures(ClassNumber number);
  TimePoint DropTime(ClassNumber number) const;
  bool MayRun(ClassNumber number, const ClassThreads& threads) const {
    return figures_[number].length > 0 && threads.HasFree(number);
  }
  // Guarantee less share; above 0: the class is below its guarantee.
  double GapOf(ClassNumber number) const;
  std::optional<Candidate> MostBelowGuarantee(TimePoint now, const ClassThreads& threads) const;
  std::optional<Candidate> FirstByPolicy(TimePoint now, const ClassThreads& threads);
  std::optional<Candidate> CostliestToWait(TimePoint now, const ClassThreads& threads) const;
  // Smaller is served sooner.
  double PriorityOf(SchedulingPolicy policy, ClassNumber number, TimePoint now) const;
  Backlog BacklogAt(TimePoint now) const;
  // The more costly of the oldest and the newest request of the class.
  Candidate CostlierOf(ClassNumber number, const Backlog& backlog, TimePoint now) const;
  // Larger is served sooner. The delay is in steps of the class's expected-yield table.
  double CostOfWaiting(const WaitingRequest& request, double delay_steps, TimePoint now) const;
  bool WouldWaitTooLong(const WaitingRequest& request) const;
  void NotePick(TimePoint now);
  // Returns when the request becomes useless, to its caller or by its class.
  TimePoint UntilOf(const WaitingRequest& request) const;
  static Duration TimeLeft(TimePoint until, TimePoint now) {
    return until == kNever ? Duration::max() : until - now;
  }
  // Expected yield of the oldest request of the class if served now.
  double YieldIfServed(ClassNumber number, TimePoint now) const;

  const SchedulerOptions options_;
  std::vector<ClassQueue> queues_;
  std::vector<ClassFigures> figures_;  // one for each class
  // Mean consumption of a request of each class; almost nothing while none has ended.
  std::vector<double> consumption_ns_;
  ClassConsumption consumption_;
  GuaranteeCredit credit_;  // used by waiting_cost
  DropWindow drops_;
  DecayedCounter demand_;  // expected consumption of arrivals, in seconds
  // Time between picks while others wait: the pace of the queue.
  Ewma pick_gap_ns_;
  // Time of the latest pick, if it left others waiting
  std::optional<TimePoint> waiting_since_pick_;
  size_t length_ = 0;
};

}  // namespace neptune
