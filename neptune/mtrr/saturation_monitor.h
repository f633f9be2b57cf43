// Detects that a node has left the operating point its thread plan was made for.
//
//   a node's counters, polled ──► each window: arrivals, losses, times of each class ──┐
//   the plan: rates, threads, limits, profile ──► expectations ───────────────────────┴► departures
//
// A departure is reported once it has lasted for several windows in a row, so that bursts are not.
//
//   arrivals        more requests of a class arrive than planned
//   lost            more requests of a class are refused or time out than its worst case allows
//   late            a class answers later than the plan promises even in the worst case
//   threads         a class has another number of threads than planned
//   saturated       all threads of all classes are busy all the time
//   service time    the service time differs from the profile's at this load: the saturation point
//                   or the service time has moved, and the service must be profiled again
//   processor time  the processor time of requests differs from the profile: other requests
//
// Source: [Jamjoom04] II, IX ("the controller must continuously monitor the saturation point").
// Departs from source: the source says what to monitor but not how. Here the service time is
//   compared with that of the chain at the measured load of all classes together, which is exact
//   while no class has used up its own threads.
// No I/O, no clock, no threads: snapshots carry their times.
// Threads: thread-compatible.
// Units: seconds, requests; rates a second; all for one node.
// Errors: Make: kInvalidArgument no class, a duplicate class, rates that are not positive, no
//   window.
// Limits: kPlannedClassCountMax classes. A snapshot with smaller counts means that the node has
//   restarted: it ends no window.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/mtrr/response_model.h"

namespace neptune {

struct WatchedClass {
  std::string name;
  double arrival_rate = 0;  // planned rate
  int thread_count = 1;
  int queue_length_max = 0;
  std::optional<double> response_max_s;
};

// A plan's assumptions about one node.
struct OperatingPoint {
  double service_rate = 0;
  Speedup speedup;
  // Mean processor time of a request; nullopt: not monitored.
  std::optional<double> processor_s;
  std::vector<WatchedClass> classes;
};

// Counters since the node's start.
struct ClassCounters {
  std::string name;
  // nullopt: the class has no thread reservation.
  std::optional<int> thread_count;
  uint64_t arrived = 0;
  uint64_t served = 0;
  uint64_t lost = 0;  // refused, or timed out in the queue
  double run_s = 0;
  double processor_s = 0;
  double response_s = 0;
};

struct CounterSnapshot {
  double at_s = 0;
  std::vector<ClassCounters> classes;
};

enum class Departure {
  kArrivals,
  kLost,
  kLate,
  kThreads,
  kSaturated,
  kServiceTime,
  kProcessorTime
};
// Returns "arrivals", "service time" and so on, as above.
std::string_view DepartureName(Departure departure);

struct FoundDeparture {
  Departure departure = Departure::kArrivals;
  // Empty: all classes together.
  std::string service_class;
  double planned = 0;
  double measured = 0;
};

// Figures of one class in the last window.
struct ClassWindow {
  std::string name;
  double arrival_rate = 0;
  double throughput = 0;
  double loss_share = 0;
  double response_s = 0;  // 0: no request was served
};

struct WindowReport {
  // False for the first snapshot and after a restart of the node.
  bool is_window = false;
  double length_s = 0;
  std::vector<ClassWindow> classes;  // in the plan's order
  double busy_threads_mean = 0;
  double processing_s = 0;  // mean service time; 0: no request was served
  double processing_expected_s = 0;
  // Departures that have lasted for window_count windows.
  std::vector<FoundDeparture> departures;
};

struct MonitorOptions {
  // Allowed relative deviation from the plan. Larger: later and more certain detection. Default:
  // twice the model's error.
  double tolerance = 0.25;
  // Number of windows in a row. Default: 3.
  int window_count = 3;
  // A window with fewer requests of a class is ignored for that class. Default: 30, which gives the
  // mean to about a fifth.
  uint64_t request_count_min = 30;
};

class SaturationMonitor {
 public:
  static StatusOr<SaturationMonitor> Make(OperatingPoint point, const MonitorOptions& options = {});

  // REQUIRES: `now` is later than the previous snapshot.
  WindowReport Observe(const CounterSnapshot& now);

 private:
  using Key = std::pair<Departure, std::string>;
  struct Window;

  SaturationMonitor(OperatingPoint point, const MonitorOptions& options)
      : point_(std::move(point)), options_(options) {}

  void CheckClass(const WatchedClass& planned, const ClassCounters& since, double length_s,
                  Window* window) const;
  void CheckTogether(const ClassCounters& all, double arrival_rate, double length_s,
                     Window* window) const;
  // Updates the durations of departures.
  void Conclude(Window* window);

  OperatingPoint point_;
  MonitorOptions options_;
  std::optional<CounterSnapshot> last_;
  std::map<Key, int> lasted_;
};

}  // namespace neptune
