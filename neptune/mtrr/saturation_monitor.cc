#include "neptune/mtrr/saturation_monitor.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "neptune/mtrr/thread_plan.h"

namespace neptune {
namespace {

// Share of the threads' time above which none counts as free, and share of arrivals that may be
// lost by chance.
constexpr double kBusyShare = 0.95;
constexpr double kLossSlack = 0.01;

double Ratio(double sum, uint64_t count) {
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

const ClassCounters* Find(const CounterSnapshot& snapshot, const std::string& name) {
  for (const ClassCounters& one : snapshot.classes) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

// Returns the differences between two snapshots; nullopt if the node has restarted in between.
std::optional<ClassCounters> Since(const ClassCounters& before, const ClassCounters& now) {
  if (now.arrived < before.arrived || now.served < before.served || now.lost < before.lost ||
      now.run_s < before.run_s) {
    return std::nullopt;
  }
  ClassCounters since = now;
  since.arrived -= before.arrived;
  since.served -= before.served;
  since.lost -= before.lost;
  since.run_s -= before.run_s;
  since.processor_s -= before.processor_s;
  since.response_s -= before.response_s;
  return since;
}

void Add(const ClassCounters& one, ClassCounters* sum) {
  sum->arrived += one.arrived;
  sum->served += one.served;
  sum->lost += one.lost;
  sum->run_s += one.run_s;
  sum->processor_s += one.processor_s;
  sum->response_s += one.response_s;
}

int AllThreads(const OperatingPoint& point) {
  int all = 0;
  for (const WatchedClass& one : point.classes) all += one.thread_count;
  return all;
}

}  // namespace

std::string_view DepartureName(Departure departure) {
  switch (departure) {
    case Departure::kArrivals:
      return "arrivals";
    case Departure::kLost:
      return "lost";
    case Departure::kLate:
      return "late";
    case Departure::kThreads:
      return "threads";
    case Departure::kSaturated:
      return "saturated";
    case Departure::kServiceTime:
      return "service time";
    case Departure::kProcessorTime:
      return "processor time";
  }
  return "";
}

struct SaturationMonitor::Window {
  WindowReport report;
  std::vector<FoundDeparture> found;
  // Figures for which this window has too few requests.
  std::set<Key> unknown;
};

StatusOr<SaturationMonitor> SaturationMonitor::Make(OperatingPoint point,
                                                    const MonitorOptions& options) {
  if (point.classes.empty() || point.classes.size() > kPlannedClassCountMax) {
    return InvalidArgument("operating point has ", point.classes.size(), " classes, expected 1 to ",
                           kPlannedClassCountMax);
  }
  if (options.window_count < 1 || !(options.tolerance > 0)) {
    return InvalidArgument("monitor has window count ", options.window_count, " and tolerance ",
                           options.tolerance, ", expected positive numbers");
  }
  std::set<std::string> names;
  for (const WatchedClass& one : point.classes) {
    if (!names.insert(one.name).second) {
      return InvalidArgument("class '", one.name, "' is duplicated in the operating point");
    }
    // The model checks the values.
    NEPTUNE_RETURN_IF_ERROR(Annotate(PredictResponse({.arrival_rate = one.arrival_rate,
                                                      .service_rate = point.service_rate,
                                                      .speedup = point.speedup,
                                                      .thread_count = one.thread_count,
                                                      .queue_length_max = one.queue_length_max})
                                         .status(),
                                     one.name));
  }
  return SaturationMonitor(std::move(point), options);
}

void SaturationMonitor::CheckClass(const WatchedClass& planned, const ClassCounters& since,
                                   double length_s, Window* window) const {
  ClassWindow report{.name = planned.name,
                     .arrival_rate = static_cast<double>(since.arrived) / length_s,
                     .throughput = static_cast<double>(since.served) / length_s,
                     .loss_share = Ratio(static_cast<double>(since.lost), since.arrived),
                     .response_s = Ratio(since.response_s, since.served)};
  const auto found = [&](Departure departure, double wanted, double measured) {
    window->found.push_back({departure, planned.name, wanted, measured});
  };
  const auto unknown = [&](Departure departure) {
    window->unknown.insert({departure, planned.name});
  };
  if (report.arrival_rate > planned.arrival_rate * (1 + options_.tolerance) &&
      since.arrived >= options_.request_count_min) {
    found(Departure::kArrivals, planned.arrival_rate, report.arrival_rate);
  }
  if (since.arrived < options_.request_count_min) {
    unknown(Departure::kLost);
  } else {
    const int others = AllThreads(point_) - planned.thread_count;
    const auto worst = PredictResponse({.arrival_rate = planned.arrival_rate,
                                        .service_rate = point_.service_rate,
                                        .speedup = point_.speedup,
                                        .thread_count = planned.thread_count,
                                        .queue_length_max = planned.queue_length_max,
                                        .overloaded_thread_count = others});
    const double allowed = (worst.ok() ? worst->loss_share : 0) + kLossSlack;
    if (report.loss_share > allowed) found(Departure::kLost, allowed, report.loss_share);
  }
  if (planned.response_max_s) {
    if (since.served < options_.request_count_min) {
      unknown(Departure::kLate);
    } else if (report.response_s > *planned.response_max_s) {
      found(Departure::kLate, *planned.response_max_s, report.response_s);
    }
  }
  if (since.thread_count != planned.thread_count) {
    found(Departure::kThreads, planned.thread_count, since.thread_count.value_or(0));
  }
  window->report.classes.push_back(std::move(report));
}

void SaturationMonitor::CheckTogether(const ClassCounters& all, double arrival_rate,
                                      double length_s, Window* window) const {
  const int threads = AllThreads(point_);
  WindowReport& report = window->report;
  report.busy_threads_mean = all.run_s / length_s;
  report.processing_s = Ratio(all.run_s, all.served);
  if (report.busy_threads_mean >= kBusyShare * threads) {
    window->found.push_back(
        {Departure::kSaturated, "", static_cast<double>(threads), report.busy_threads_mean});
  }
  if (all.served < options_.request_count_min) {
    window->unknown.insert({Departure::kServiceTime, ""});
    window->unknown.insert({Departure::kProcessorTime, ""});
    return;
  }
  const auto off = [&](double planned, double measured) {
    return measured > planned * (1 + options_.tolerance) ||
           measured * (1 + options_.tolerance) < planned;
  };
  int places = 0;
  for (const WatchedClass& one : point_.classes) places += one.queue_length_max;
  const auto expected =
      PredictResponse({.arrival_rate = arrival_rate,
                       .service_rate = point_.service_rate,
                       .speedup = point_.speedup,
                       .thread_count = threads,
                       .queue_length_max = std::min(places, kQueuePlaceCountMax)});
  if (expected.ok()) {
    report.processing_expected_s = expected->in_service_mean / expected->throughput;
    if (off(report.processing_expected_s, report.processing_s)) {
      window->found.push_back(
          {Departure::kServiceTime, "", report.processing_expected_s, report.processing_s});
    }
  }
  const double processor_s = Ratio(all.processor_s, all.served);
  if (point_.processor_s && off(*point_.processor_s, processor_s)) {
    window->found.push_back({Departure::kProcessorTime, "", *point_.processor_s, processor_s});
  }
}

void SaturationMonitor::Conclude(Window* window) {
  std::map<Key, int> lasted;
  for (const auto& [key, count] : lasted_) {
    if (window->unknown.contains(key)) lasted[key] = count;
  }
  for (FoundDeparture& one : window->found) {
    const Key key{one.departure, one.service_class};
    const auto before = lasted_.find(key);
    const int count =
        std::min(options_.window_count, (before == lasted_.end() ? 0 : before->second) + 1);
    lasted[key] = count;
    if (count == options_.window_count) window->report.departures.push_back(std::move(one));
  }
  lasted_ = std::move(lasted);
}

WindowReport SaturationMonitor::Observe(const CounterSnapshot& now) {
  const std::optional<CounterSnapshot> last = std::exchange(last_, now);
  if (!last || now.at_s <= last->at_s) return {};
  const double length_s = now.at_s - last->at_s;
  Window window{.report = {.is_window = true, .length_s = length_s}};
  ClassCounters all;
  double arrival_rate = 0;
  for (const WatchedClass& planned : point_.classes) {
    // A class that the node does not know yet has counted nothing.
    const ClassCounters none{.name = planned.name};
    const ClassCounters* before = Find(*last, planned.name);
    const ClassCounters* after = Find(now, planned.name);
    const auto since = Since(before ? *before : none, after ? *after : none);
    if (!since) {
      lasted_.clear();
      return {};
    }
    CheckClass(planned, *since, length_s, &window);
    Add(*since, &all);
    arrival_rate += window.report.classes.back().arrival_rate;
  }
  CheckTogether(all, arrival_rate, length_s, &window);
  Conclude(&window);
  return std::move(window.report);
}

}  // namespace neptune
