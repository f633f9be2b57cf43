#include "tools/mtrr/watch.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::Departure;
using neptune::FoundDeparture;
using neptune::StatusOr;
using neptune::StrCat;

std::string Figure(Departure departure, double value) {
  char text[48];
  switch (departure) {
    case Departure::kArrivals:
      std::snprintf(text, sizeof(text), "%.1f a second", value);
      break;
    case Departure::kLost:
      std::snprintf(text, sizeof(text), "%.1f %%", 100 * value);
      break;
    case Departure::kThreads:
    case Departure::kSaturated:
      std::snprintf(text, sizeof(text), "%.1f", value);
      break;
    default:
      std::snprintf(text, sizeof(text), "%.2f ms", 1000 * value);
  }
  return text;
}

std::string Advice(Departure departure) {
  switch (departure) {
    case Departure::kArrivals:
      return "make a new plan with this rate";
    case Departure::kLost:
    case Departure::kLate:
      return "the plan's guarantee does not hold";
    case Departure::kThreads:
      return "apply the plan again";
    case Departure::kSaturated:
      return "all threads are busy; additional load is lost";
    case Departure::kServiceTime:
      return "the saturation point has moved: profile again";
    case Departure::kProcessorTime:
      return "the requests differ from those profiled: profile again";
  }
  return "";
}

std::string DepartureLine(const std::string& node, const FoundDeparture& one) {
  const std::string whose =
      one.service_class.empty() ? "all classes" : StrCat("class '", one.service_class, "'");
  return StrCat("LEFT THE PLAN at ", node, ", ", whose, ": ", DepartureName(one.departure), " ",
                Figure(one.departure, one.measured), ", planned ",
                Figure(one.departure, one.planned), "; ", Advice(one.departure), "\n");
}

std::string NodeLine(const WatchedNode& node) {
  const neptune::WindowReport& report = node.report;
  char text[160];
  std::snprintf(text, sizeof(text), "%-12s %5.1f threads busy, %7.2f ms at work (%.2f expected)",
                node.name.c_str(), report.busy_threads_mean, 1000 * report.processing_s,
                1000 * report.processing_expected_s);
  std::string line = text;
  for (const neptune::ClassWindow& one : report.classes) {
    std::snprintf(text, sizeof(text), "; %s %.1f/s, %.1f ms, %.1f %% lost", one.name.c_str(),
                  one.arrival_rate, 1000 * one.response_s, 100 * one.loss_share);
    line += text;
  }
  return line + "\n";
}

}  // namespace

StatusOr<ServiceWatch> ServiceWatch::Make(const Allocation& allocation,
                                          std::vector<AdminNode> nodes,
                                          const neptune::MonitorOptions& options) {
  std::vector<neptune::SaturationMonitor> monitors;
  for (size_t i = 0; i < nodes.size(); ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(
        neptune::SaturationMonitor monitor,
        neptune::SaturationMonitor::Make(OperatingPointOf(allocation), options));
    monitors.push_back(std::move(monitor));
  }
  return ServiceWatch(allocation.service, std::move(nodes), std::move(monitors));
}

std::vector<WatchedNode> ServiceWatch::Poll(double now_s) {
  std::vector<WatchedNode> watched;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    WatchedNode node{.name = nodes_[i].name};
    const auto state = ReadService(nodes_[i], service_);
    if (state.ok()) {
      neptune::CounterSnapshot snapshot{.at_s = now_s, .classes = {}};
      for (const ServiceClassState& one : state->classes) snapshot.classes.push_back(one.counters);
      node.report = monitors_[i].Observe(snapshot);
    }
    node.status = state.status();
    watched.push_back(std::move(node));
  }
  return watched;
}

std::string WatchText(const std::vector<WatchedNode>& nodes) {
  std::string text;
  for (const WatchedNode& node : nodes) {
    if (!node.status.ok()) {
      text += StrCat(node.name, " did not report: ", neptune::ToStd(node.status.message()), "\n");
      continue;
    }
    if (!node.report.is_window) continue;
    text += NodeLine(node);
    for (const FoundDeparture& one : node.report.departures) {
      text += DepartureLine(node.name, one);
    }
  }
  return text;
}

bool HasDeparture(const std::vector<WatchedNode>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const WatchedNode& node) { return !node.report.departures.empty(); });
}

}  // namespace search::tools
