// The requests that wait for admission: which may wait, and which begins next.
//
//   Push ─► may it begin in time? ─► queue of its class, fair between clients ─┐
//              │ no                                                            ▼ one of each class
//              └─► refused at once                            ClassScheduler: the next class ─► Pick
//
// The queue is bounded by time: a request waits if, at the measured pace of its class, its turn
// comes while it can still be served by its deadline. Requests are served first come, first served
// within a client, and clients take turns. So a bounded number of clients in a closed loop is never
// refused as long as the wait is within its limit, whatever the number.
//
// Two other rules under overload were weighed, and simulated (admission_queue_test, README.md).
// Serving the newest first, or keeping only a short queue (CoDel), while requests are refused gives
// those that are served a shorter wait. But clients in a closed loop that were refused come again,
// which looks like overload: once begun, for example by a burst, either rule goes on refusing most
// requests although all of them could wait their turn. The wait limit bounds the delay instead.
//
// The newest are first only while clients leave: then they have less patience than the limit, the
// oldest would be given up just when they are served, and the newest are served in time.
//
// Source: [Shen02] 4.4 (order of classes); [Nichols12] (CoDel, rejected).
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Limits: waiting_count_max requests of a class wait; over that, the newest request of the client
//   with the most is displaced, or the new one is refused.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "neptune/base/ewma.h"
#include "neptune/base/time.h"
#include "neptune/scheduling/class_scheduler.h"
#include "neptune/scheduling/class_threads.h"
#include "neptune/scheduling/drop_window.h"
#include "neptune/scheduling/fair_queue.h"
#include "neptune/scheduling/scheduler_options.h"

namespace neptune {

class AdmissionQueue {
 public:
  struct Options {
    // queue_length_max of the classes is not used.
    SchedulerOptions scheduling = {};
    // Maximum number of waiting requests of a class. Larger: more memory under a flood, for each a
    // parked user-level thread. Default: 4,096, more than begin within a second.
    size_t waiting_count_max = 4096;
  };

  struct Request {
    RequestTicket ticket = 0;
    ClassNumber service_class = 0;
    TimePoint arrived;
    // The latest time at which it may begin.
    TimePoint begin_by = kNever;
    // When the answer must be there; it begins no later than the mean service time before.
    TimePoint deadline = kNever;
    // Requests of one client wait for each other. 0: unknown, a client like others.
    uint64_t client = 0;
  };

  explicit AdmissionQueue(const Options& options);

  enum class Entry { kTaken, kQueueFull, kWaitTooLong };
  struct Pushed {
    Entry entry = Entry::kTaken;
    // A request that gave its place to this one: it is to be refused.
    std::optional<RequestTicket> displaced{};
  };
  Pushed Push(const Request& request, TimePoint now);

  struct Picked {
    std::optional<WaitingRequest> next;
    // Requests that would yield nothing any more.
    std::vector<WaitingRequest> dropped;
  };
  // Removes and returns the request to begin next. The caller updates `threads`.
  Picked Pick(TimePoint now, const ClassThreads& threads);

  // Removes a request whose time is over, or whose client has left; false: it does not wait.
  bool Remove(RequestTicket ticket);
  // A client has left before its request was answered, waiting or not.
  void NoteGone(ClassNumber service_class, TimePoint now);

  // Records that a picked request has ended, and how long it was served.
  void OnServed(ClassNumber service_class, Duration consumed, Duration served_for, TimePoint now);

  size_t length() const { return classes_of_.size(); }
  size_t length_of(ClassNumber number) const { return classes_[number].waiting.size(); }
  // The latest time at which the request may begin: begin_by, and the mean service time before its
  // deadline and before its class yields nothing any more.
  TimePoint LatestBegin(const Request& request) const;
  // How long another request of the client would wait.
  Duration ExpectedWait(ClassNumber number, uint64_t client) const;
  // True while the newest requests of the class are first.
  bool NewestFirst(ClassNumber number, TimePoint now) {
    return classes_[number].leaving.DropShare(now) > kLeavingShare;
  }

  // Share of the requests of the last kLeavingWindow whose clients left.
  static constexpr double kLeavingShare = 0.05;
  static constexpr Duration kLeavingWindow = std::chrono::seconds(3);

 private:
  struct Class {
    FairQueue waiting;
    // Time between picks while others wait: the pace of the class.
    Ewma pace_ns;
    std::optional<TimePoint> waiting_since_pick{};
    Ewma service_ns;
    DropWindow leaving{kLeavingWindow};
    Class();
  };

  // Offers the request whose turn it is, instead of another one of the class.
  void Offer(ClassNumber number, TimePoint now);
  void NotePick(Class* of, TimePoint now);
  Duration MeanServiceOf(ClassNumber number) const {
    return Duration(static_cast<int64_t>(classes_[number].service_ns.value()));
  }

  const Options options_;
  ClassScheduler scheduler_;
  std::vector<Class> classes_;
  std::unordered_map<RequestTicket, ClassNumber> classes_of_;  // of all that wait
};

}  // namespace neptune
