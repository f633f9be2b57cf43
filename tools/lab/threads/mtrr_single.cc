// Response time by request rate for several numbers of threads, predicted from a profile and live.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/mtrr/response_model.h"
#include "neptune/mtrr/speedup.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/threads/threaded_server.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

constexpr int kQueue = 32;
const ThreadedServerOptions kServer = {
    .processor_ms = 2, .device_ms = 6, .device_width = 4, .queue_length_max = kQueue};

// The maximum throughput of such a server: that of two queues in a cycle, by the product form.
struct Threads {
  int count;
  double capacity;
};
constexpr Threads kThreads[] = {{1, 125}, {2, 235}, {4, 397}, {8, 477}, {16, 498}};
constexpr double kLoads[] = {0.3, 0.5, 0.7, 0.85, 1.2, 1.5};
const std::vector<int> kProfiled = {1, 2, 3, 4, 6, 8, 12, 16, 24};
constexpr double kCritical = 0.1;

Point ProfilePoint() { return Point{{"study", "profile"}}.Set("threads", 0.0).Set("rate", 0.0); }
Point LoadPoint(int threads, double rate) {
  return Point{{"study", "load"}}.Set("threads", threads).Set("rate", rate);
}
double RateOf(const Threads& threads, double load) { return std::round(threads.capacity * load); }
std::string ThroughputMetric(int threads) { return StrCat("throughput_", threads); }

std::vector<Point> Points(Length length) {
  std::vector<Point> points = {ProfilePoint()};
  for (const Threads& threads : kThreads) {
    if (length == Length::kSmoke && threads.count != 4) continue;
    for (const double load : kLoads) {
      if (length == Length::kSmoke && load != 0.5 && load != 1.5) continue;
      if (length == Length::kQuick && (load == 0.5 || load == 0.85)) continue;
      points.push_back(LoadPoint(threads.count, RateOf(threads, load)));
    }
  }
  return points;
}

StatusOr<Measurement> MeasureProfile(ThreadedServer& server, const RunContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(
      const tools::ServiceProfile profile,
      server.Profile(kProfiled, context.Pick(0.05, 0.2, 0.5), context.Pick(0.1, 0.8, 2.0)));
  Measurement measured;
  for (const tools::ProfilePoint& one : profile.points) {
    measured[ThroughputMetric(one.thread_count)] = one.throughput;
  }
  return measured;
}

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  ThreadedServerOptions options = kServer;
  options.seed = context.seed;
  if (point.Text("study") == "profile") {
    // Only throughput is measured, which does not depend on a sufficiently long queue.
    options.stratified = true;
    options.queue_length_max = 128;
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto server, ThreadedServer::Start(options));
  if (point.Text("study") == "profile") return MeasureProfile(*server, context);
  NEPTUNE_RETURN_IF_ERROR(server->SetThreads(static_cast<int>(point.Number("threads"))));
  const double warm_up_s = context.Pick(0.2, 0.5, 1.5);
  HttpLoadOptions load{.server = server->endpoint(),
                       .path = "/request?q=",
                       .rate = point.Number("rate"),
                       .length_s = warm_up_s + context.Pick(0.4, 1.5, 6.0),
                       .timeout_s = 10,
                       .seed = context.seed};
  NEPTUNE_ASSIGN_OR_RETURN(const auto measurements, RunHttpLoad(load));
  const LoadShare share = ShareOf(measurements, warm_up_s, load.length_s, load.timeout_s);
  return Measurement{{"response_ms", share.response_ms_mean},
                     {"loss_percent", share.loss_percent()}};
}

neptune::SpeedupFit FitOf(const Results& results) {
  std::vector<neptune::ThroughputPoint> points;
  for (const int threads : kProfiled) {
    points.push_back({threads, results.Median(ProfilePoint(), ThroughputMetric(threads)).middle});
  }
  return *neptune::FitSpeedup(points);
}

void Judge(const Results& results, Judgement* judgement) {
  const neptune::SpeedupFit fit = FitOf(results);
  plot::Plot figure{.name = "response",
                    .title = "Mean response time by load",
                    .x = {.label = "requests per second"},
                    .y = {.label = "ms", .logarithmic = true}};
  std::vector<double> errors;
  for (const Threads& threads : kThreads) {
    plot::Series measured{.name = StrCat(threads.count, " threads"), .dots = {}};
    plot::Series predicted{.name = StrCat(threads.count, " threads, predicted"),
                           .dots = {},
                           .style = plot::Series::Style::kLines};
    for (const double load : kLoads) {
      const Point point = LoadPoint(threads.count, RateOf(threads, load));
      if (!results.Has(point)) continue;
      const Estimate ours = results.Mean(point, "response_ms");
      const neptune::ResponseModel model =
          *neptune::PredictResponse({.arrival_rate = point.Number("rate"),
                                     .service_rate = fit.service_rate,
                                     .speedup = fit.speedup,
                                     .thread_count = threads.count,
                                     .queue_length_max = kQueue});
      measured.dots.push_back({point.Number("rate"), ours.middle, ours.low, ours.high});
      predicted.dots.push_back({point.Number("rate"), 1000 * model.response_s});
      if (std::abs(model.load - 1) < kCritical) continue;
      errors.push_back(100 * std::abs(1000 * model.response_s / ours.middle - 1));
    }
    if (measured.dots.empty()) continue;
    figure.series.push_back(std::move(measured));
    figure.series.push_back(std::move(predicted));
  }
  judgement->AtMost("error of the prediction outside the critical region, median",
                    "within 10 % over a wide range", MedianOf(errors), 10, "%");
  judgement->Shown("largest", "over-predicts where load is critical", LargestOf(errors), "%");
  if (results.Has(LoadPoint(4, RateOf(kThreads[2], 0.5)))) {
    judgement
        ->AtLeast(
            "response time at 1.5 times the capacity relative to half the capacity, 4 "
            "threads",
            "S-shaped",
            results.MeanRatio(LoadPoint(4, RateOf(kThreads[2], 1.5)),
                              LoadPoint(4, RateOf(kThreads[2], 0.5)), "response_ms"),
            2, "x")
        .Shape();
  }
  judgement->AddPlot(std::move(figure));
}

}  // namespace

Experiment MtrrSingle() {
  Experiment experiment;
  experiment.name = "mtrr_single";
  experiment.title = "Response time of a live server by load and threads";
  experiment.source = "[Jamjoom04] VII.A, figure 8";
  experiment.setup =
      "The server of mtrr_speedup: kernel threads on one processor; a request takes 2 ms of it "
      "and 6 ms of a device that serves four requests at once, exponentially distributed; a "
      "queue of 32. First the server is profiled and G is fitted to the profile. Then requests "
      "arrive at Poisson times, at 0.3 to 1.5 times the capacity for each number of threads. The "
      "figure is the client's mean response time from the moment at which a request was due. "
      "Points whose rate is within a tenth of capacity are critical and do not count, as in the "
      "source.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
