// Says when a node has left the operating point that its thread plan was made for.
//
//   counters of a node, now and then ──► per window: arrivals, losses, times of each class ──┐
//   the plan: rates, threads, limits, profile ──► what they should be ───────────────────────┴─► departures
//
// A departure is told once it has lasted for some windows in a row, so that a burst is none.
//
//   arrivals        more of a class come than were planned for
//   lost            more of a class are turned away or wait too long than its worst case allows
//   late            a class answers later than the plan promises even in the worst case
//   threads         a class has another number of threads than planned
//   saturated       all threads of all classes are busy all the time
//   service time    requests are at work for another time than the profile says for this load: the saturation point
//                   or the service time has moved, and the service is to be profiled anew
//   processor time  requests use another processor time: they are not those that were profiled
//
// Source: [Jamjoom04] II, IX ("the controller must continuously monitor the saturation point").
// Departs from source: it says what to watch and not how. The time at work is compared with the chain's for the load
//   that is measured, all classes together; that holds exactly while no class's own threads are used up.
// No I/O, no clock, no threads: snapshots come in with their times.
// Threads: thread-compatible.
// Units: seconds, requests; rates a second; all of one node.
// Errors: Make: kInvalidArgument no class, a class twice, rates that are not positive, no window.
// Limits: kPlannedClassCountMax classes. A snapshot whose counts fell is a node that began anew: no window ends.

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
  double arrival_rate = 0;  // planned for
  int thread_count = 1;
  int queue_length_max = 0;
  std::optional<double> response_max_s;
};

// What a plan supposes of one node.
struct OperatingPoint {
  double service_rate = 0;
  Speedup speedup;
  // Mean processor time of a request; absent: not watched.
  std::optional<double> processor_s;
  std::vector<WatchedClass> classes;
};

// Since the node's start.
struct ClassCounters {
  std::string name;
  // Absent: the class has no number of its own.
  std::optional<int> thread_count;
  uint64_t arrived = 0;
  uint64_t served = 0;
  uint64_t lost = 0;  // refused, or given up in the queue
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
// "arrivals", "service time", as above.
std::string_view DepartureName(Departure departure);

struct FoundDeparture {
  Departure departure = Departure::kArrivals;
  // Empty: of all together.
  std::string service_class;
  double planned = 0;
  double measured = 0;
};

// Of one class in the last window.
struct ClassWindow {
  std::string name;
  double arrival_rate = 0;
  double throughput = 0;
  double loss_share = 0;
  double response_s = 0;  // 0: none was served
};

struct WindowReport {
  // False: the first snapshot, or the node began anew.
  bool is_window = false;
  double length_s = 0;
  std::vector<ClassWindow> classes;  // in the plan's order
  double busy_threads_mean = 0;
  double processing_s = 0;  // mean time at work; 0: none was served
  double processing_expected_s = 0;
  // Those that have lasted.
  std::vector<FoundDeparture> departures;
};

struct MonitorOptions {
  // How far a figure may be off the plan's, as a share. Larger: later and surer. Default: twice what the model is off.
  double tolerance = 0.25;
  // Windows in a row. Default: 3.
  int window_count = 3;
  // Fewer requests of a class in a window say nothing of it. Default: 30, a mean to about a fifth.
  uint64_t request_count_min = 30;
};

class SaturationMonitor {
 public:
  static StatusOr<SaturationMonitor> Make(OperatingPoint point, const MonitorOptions& options = {});

  // REQUIRES: later than the one before.
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
  // Keeps count of what has lasted.
  void Conclude(Window* window);

  OperatingPoint point_;
  MonitorOptions options_;
  std::optional<CounterSnapshot> last_;
  std::map<Key, int> lasted_;
};

}  // namespace neptune
