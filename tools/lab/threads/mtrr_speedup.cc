// Throughput over threads of live servers, and the speedup fitted to it.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/mtrr/speedup.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/threads/threaded_server.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

struct Kind {
  const char* name;
  const char* paper;
  ThreadedServerOptions server;
};

const Kind kKinds[] = {
    {"processor", "alpha = 0", {.processor_ms = 2, .stratified = true}},
    {"device", "", {.processor_ms = 0.1, .device_ms = 8, .device_width = 4, .stratified = true}},
    {"mixed",
     "alpha 0.14 up to 23",
     {.processor_ms = 2, .device_ms = 6, .device_width = 4, .stratified = true}},
};

Point PointOf(const Kind& kind) { return Point{{"kind", kind.name}}; }

std::vector<Point> Points(Length) {
  std::vector<Point> points;
  for (const Kind& kind : kKinds) points.push_back(PointOf(kind));
  return points;
}

std::vector<int> ThreadCounts(Length length) {
  if (length == Length::kSmoke) return {1, 4, 16};
  if (length == Length::kQuick) return {1, 2, 4, 8, 16};
  return {1, 2, 3, 4, 6, 8, 12, 16, 24};
}

// Once for the fit and once for its validation.
std::string FitMetric(int threads) { return StrCat("throughput_", threads); }
std::string CheckMetric(int threads) { return StrCat("throughput_again_", threads); }

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const Kind& kind = *std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const Kind& one) { return one.name == point.Text("kind"); });
  ThreadedServerOptions options = kind.server;
  options.seed = context.seed;
  NEPTUNE_ASSIGN_OR_RETURN(const auto server, ThreadedServer::Start(options));
  const std::vector<int> threads = ThreadCounts(context.length);
  const double length_s = context.Pick(0.1, 0.6, 1.5);
  Measurement measured;
  for (const bool again : {false, true}) {
    NEPTUNE_ASSIGN_OR_RETURN(const tools::ServiceProfile profile,
                             server->Profile(threads, context.Pick(0.02, 0.1, 0.2), length_s));
    for (const tools::ProfilePoint& one : profile.points) {
      measured[again ? CheckMetric(one.thread_count) : FitMetric(one.thread_count)] =
          one.throughput;
    }
  }
  return measured;
}

// The figures of one kind, from the medians or from one run.
struct Found {
  neptune::SpeedupFit fit;
  int fewest_threads = 1;
  double of_best_percent = 0;    // what they do when they are measured again
  double deviation_percent = 0;  // of the throughput predicted there
};

// `value` returns a metric.
template <typename Value>
Found Find(const std::vector<int>& counts, int fewest_threads, Value value) {
  std::vector<neptune::ThroughputPoint> points;
  double best = 0;
  for (const int threads : counts) {
    points.push_back({threads, value(FitMetric(threads))});
    best = std::max(best, value(CheckMetric(threads)));
  }
  Found found{
      .fit = *neptune::FitSpeedup(points),
      .fewest_threads = fewest_threads > 0 ? fewest_threads : neptune::FewestThreads(points)};
  const double again = value(CheckMetric(found.fewest_threads));
  const double predicted = found.fit.service_rate * found.fit.speedup.At(found.fewest_threads);
  found.of_best_percent = 100 * again / best;
  found.deviation_percent = 100 * std::abs(predicted / again - 1);
  return found;
}

// The figure of the medians, with the range of single runs.
Estimate Between(double of_medians, const std::vector<Found>& runs, double Found::*figure) {
  Estimate estimate{of_medians, of_medians, of_medians, static_cast<int>(runs.size())};
  for (const Found& run : runs) {
    estimate.low = std::min(estimate.low, run.*figure);
    estimate.high = std::max(estimate.high, run.*figure);
  }
  return estimate;
}

void AddSeries(const Results& results, const Kind& kind, const neptune::SpeedupFit& fit,
               plot::Plot* figure) {
  plot::Series measured{.name = kind.name, .dots = {}};
  plot::Series fitted{
      .name = StrCat(kind.name, ", fit"), .dots = {}, .style = plot::Series::Style::kLines};
  for (const int threads : ThreadCounts(results.length())) {
    const Estimate ours = results.Median(PointOf(kind), FitMetric(threads));
    measured.dots.push_back({static_cast<double>(threads), ours.middle / fit.service_rate,
                             ours.low / fit.service_rate, ours.high / fit.service_rate});
    fitted.dots.push_back({static_cast<double>(threads), fit.speedup.At(threads)});
  }
  figure->series.push_back(std::move(measured));
  figure->series.push_back(std::move(fitted));
}

void JudgeKind(const Results& results, const Kind& kind, Judgement* judgement, plot::Plot* figure) {
  const std::vector<int> counts = ThreadCounts(results.length());
  const Point point = PointOf(kind);
  const Found found = Find(
      counts, 0, [&](const std::string& metric) { return results.Median(point, metric).middle; });
  std::vector<Found> runs;
  for (const Measurement& run : results.Of(point)) {
    runs.push_back(Find(counts, found.fewest_threads,
                        [&](const std::string& metric) { return run.at(metric); }));
  }
  const double error = 100 * found.fit.error_max;
  Estimate fit_error{error, error, error, static_cast<int>(runs.size())};
  for (const Found& run : runs) {
    fit_error.low = std::min(fit_error.low, 100 * run.fit.error_max);
    fit_error.high = std::max(fit_error.high, 100 * run.fit.error_max);
  }
  AddSeries(results, kind, found.fit, figure);
  const std::string name = StrCat(kind.name, ": ");
  judgement->Shown(name + "alpha", kind.paper,
                   Estimate::OfAll(found.fit.speedup.alpha(), results.run_count()));
  judgement->Shown(name + "saturation point", "",
                   Estimate::OfAll(found.fit.speedup.saturation_point(), results.run_count()));
  judgement->AtMost(name + "largest deviation of the fit", "linear, then flat", fit_error, 10, "%");
  judgement->AtLeast(StrCat(name, "throughput with ", found.fewest_threads,
                            " threads, measured again, relative to the best"),
                     "", Between(found.of_best_percent, runs, &Found::of_best_percent), 97, "%");
  judgement->AtMost(name + "throughput predicted there, deviation", "",
                    Between(found.deviation_percent, runs, &Found::deviation_percent), 3, "%");
}

void Judge(const Results& results, Judgement* judgement) {
  plot::Plot figure{.name = "speedup",
                    .title = "Throughput relative to one thread",
                    .x = {.label = "threads", .logarithmic = true},
                    .y = {.label = "G"}};
  for (const Kind& kind : kKinds) JudgeKind(results, kind, judgement, &figure);
  const Point mixed = PointOf(kKinds[2]);
  judgement
      ->AtLeast("mixed: 16 threads relative to one", "rises",
                RatioOf(results.Median(mixed, FitMetric(16)), results.Median(mixed, FitMetric(1))),
                2, "x")
      .Shape();
  judgement->AddPlot(std::move(figure));
}

}  // namespace

Experiment MtrrSpeedup() {
  Experiment experiment;
  experiment.name = "mtrr_speedup";
  experiment.title = "Speedup by threads for processor-bound, device-bound and mixed requests";
  experiment.source = "[Jamjoom04] II, figure 3";
  experiment.setup =
      "A server whose requests run on kernel threads that share one processor. A device that "
      "serves four requests at once, each for the time that it states, stands for a disk, so "
      "that its times are those of the experiment and not of this machine. Times are "
      "exponentially distributed, drawn in strata of 64 to reduce the variance: 2 ms of "
      "processor time; 8 ms of device and 0.1 ms of processor time; 2 ms of processor time and 6 "
      "ms of device. Four requests per thread are in flight, so that all threads are busy. "
      "Everything is measured twice: the first half is fitted, and the fit is compared with the "
      "second half; the figures are medians, and their intervals cover single runs.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
