// Why admission control does not suffice: few long requests among many short ones.

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/termination/termination_run.h"

namespace search::lab {
namespace {

using neptune::StrCat;
using workload::Distribution;

constexpr double kRate = 50;
constexpr double kShortMs = 5;
constexpr double kLongMs = 500;
constexpr double kSharesPercent[] = {0, 0.1, 1, 2, 5, 10};
constexpr const char* kSchemes[] = {"none", "queue 10", "loss", "sert"};
constexpr char kShare[] = "long_percent";

Point PointOf(const std::string& scheme, double percent) {
  return Point{{"scheme", scheme}}.Set(kShare, percent);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const std::string scheme : kSchemes) {
    for (const double percent : kSharesPercent) {
      if (length == Length::kSmoke && percent != 0 && percent != 10) continue;
      points.push_back(PointOf(scheme, percent));
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  TerminationRun run;
  run.scheme = point.Text("scheme");
  // Three times the cost of a short request.
  run.lower_bound_ms = 3 * kShortMs;
  run.until = std::chrono::seconds(context.Pick(15, 60, 300));
  run.from = std::chrono::seconds(5);
  run.phases.push_back({.until = run.until,
                        .gap_ms = Distribution::Exponential(1000 / kRate),
                        .service_ms = Distribution::Fixed(kShortMs),
                        .other_share = point.Number(kShare) / 100,
                        .other_service_ms = Distribution::Fixed(kLongMs)});
  run.long_ms = kLongMs;
  return MeasureTermination(run, context.seed);
}

void Judge(const Results& results, Judgement* judgement) {
  plot::Plot throughput{.name = "throughput",
                        .title = "Short requests answered",
                        .x = {.label = "% of the requests are long"},
                        .y = {.label = "%", .low = 0, .high = 105}};
  plot::Plot response{.name = "response",
                      .title = "99th percentile of short requests",
                      .x = {.label = "% of the requests are long"},
                      .y = {.label = "ms", .logarithmic = true}};
  for (const std::string scheme : kSchemes) {
    plot::Series answered{.name = scheme, .dots = {}};
    plot::Series tail{.name = scheme, .dots = {}};
    for (const Point& point : results.points()) {
      if (point.Text("scheme") != scheme) continue;
      const double percent = point.Number(kShare);
      const Estimate share = results.Mean(point, "short_percent");
      const Estimate p99 = results.Median(point, "short_p99_ms");
      answered.dots.push_back({percent, share.middle, share.low, share.high});
      tail.dots.push_back({percent, p99.middle, p99.low, p99.high});
      if (percent == 0) continue;
      const std::string what = StrCat(scheme, ", ", percent, " % long: ");
      const Estimate ratio = results.MedianRatio(point, PointOf("none", 0), "short_p99_ms");
      if (scheme == "sert") {
        judgement->AtLeast(what + "short requests answered", "", share, 95, "%").Shape();
        judgement
            ->AtMost(what + "their p99 relative to that without long requests", "", ratio, 3, "x")
            .Shape();
      } else {
        judgement->Shown(what + "short requests answered",
                         scheme == "none" ? "significant loss" : "", share, "%");
        judgement->Shown(what + "their p99 relative to that without long requests",
                         scheme == "none" ? "an order of magnitude" : "", ratio, "x");
      }
    }
    throughput.series.push_back(std::move(answered));
    response.series.push_back(std::move(tail));
  }
  judgement->AddPlot(std::move(throughput));
  judgement->AddPlot(std::move(response));
}

}  // namespace

Experiment SertMotivation() {
  Experiment experiment;
  experiment.name = "sert_motivation";
  experiment.title = "A few long requests among many short ones";
  experiment.source = "SERT, \"Motivating Example: Size Distribution Shift\"";
  experiment.setup =
      "50 requests per second to a server with two processors; most take 5 ms, the others 500 "
      "ms. Long requests may be terminated after 15 ms. none: a queue of 40; queue 10: admission "
      "control by a shorter queue; loss: the paper's controller; sert: ours.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 10};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
