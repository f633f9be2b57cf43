// A tenth of the requests become long: answered requests and response times.

#include <algorithm>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/termination/termination_run.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr const char* kAdmission[] = {
    "queue 2", "queue 5",         "queue 10",        "queue 20",
    "none",    "response 100 ms", "response 300 ms", "response 1000 ms"};
constexpr const char* kEnding[] = {"loss", "sert"};
constexpr char kAnswered[] = "answered_per_s";
constexpr char kMean[] = "mean_ms";

Point PointOf(const std::string& scheme) { return Point{{"scheme", scheme}}; }

std::vector<Point> Points(Length) {
  std::vector<Point> points;
  for (const char* scheme : kAdmission) points.push_back(PointOf(scheme));
  for (const char* scheme : kEnding) points.push_back(PointOf(scheme));
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const auto shift = std::chrono::seconds(context.Pick(10, 40, 200));
  return MeasureTermination(SizeDistributionShift(point.Text("scheme"), shift), context.seed);
}

// The setting of admission control with the most answers.
Point MostAnswered(const Results& results) {
  return PointOf(*std::max_element(std::begin(kAdmission), std::end(kAdmission),
                                   [&](const char* one, const char* other) {
                                     return results.Mean(PointOf(one), kAnswered).middle <
                                            results.Mean(PointOf(other), kAnswered).middle;
                                   }));
}

// The fastest setting among those with almost as many answers.
Point Fastest(const Results& results) {
  const double enough = 0.9 * results.Mean(MostAnswered(results), kAnswered).middle;
  Point best = MostAnswered(results);
  for (const char* scheme : kAdmission) {
    const Point point = PointOf(scheme);
    if (results.Mean(point, kAnswered).middle >= enough &&
        results.Mean(point, kMean).middle < results.Mean(best, kMean).middle) {
      best = point;
    }
  }
  return best;
}

void Judge(const Results& results, Judgement* judgement) {
  const Point most = MostAnswered(results);
  const Point fastest = Fastest(results);
  const Point ours = PointOf("sert");
  judgement
      ->AtLeast("answered, relative to admission control", "+209.1 %",
                ExcessPercent(results.MeanRatio(ours, most, kAnswered)), 209.1, "%")
      .Shape();
  judgement->AtMost("response time of answered requests, relative to admission control", "-54.7 %",
                    ExcessPercent(results.MeanRatio(ours, fastest, kMean)), -54.7, "%");
  plot::Plot figure{.name = "shift",
                    .title = "During the shift, by scheme",
                    .x = {.label = "response time of answered requests, ms", .logarithmic = true},
                    .y = {.label = "answered per second", .low = 0}};
  for (const Point& point : results.points()) {
    const std::string scheme = point.Text("scheme");
    const Estimate answered = results.Mean(point, kAnswered);
    judgement->Shown(StrCat("answered, ", scheme), "", answered, "/s");
    judgement->Shown(StrCat("their response time, ", scheme), "", results.Mean(point, kMean), "ms");
    figure.series.push_back({.name = scheme,
                             .dots = {{results.Mean(point, kMean).middle, answered.middle,
                                       answered.low, answered.high}},
                             .style = plot::Series::Style::kPoints});
  }
  judgement->Shown("offered", "", results.Mean(ours, "offered_per_s"), "/s");
  judgement->Note(StrCat("Of the admission control schemes, ", most.Text("scheme"),
                         " answers the most, and ", fastest.Text("scheme"),
                         " is the fastest of those that answer at least 90 % as many; each row "
                         "uses the better one."));
  judgement->AddPlot(std::move(figure));
}

}  // namespace

Experiment SertShift() {
  Experiment experiment;
  experiment.name = "sert_shift";
  experiment.title = "A shift of the request size distribution";
  experiment.source = "SERT, \"Size Distribution Shift\"";
  experiment.setup =
      "Index matching (mean 23.6 ms, 90 % within 46 ms, at most 2,732 ms) at 98 % of the "
      "capacity of two processors, where 98 % of the requests are answered in time; then a tenth "
      "of the requests take 500 to 2,000 ms. Requests that take longer than 50 ms may be "
      "terminated while others are lost or wait longer than that. Admission control uses queues "
      "of 2 to 40 places, or feedback of response times; the comparison is with the scheme that "
      "answers the most requests, and with the fastest of those that answer nearly as many. "
      "Answered means answered in full: a terminated request does not count.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 10};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
