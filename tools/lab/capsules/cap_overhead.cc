// The overhead of capsules for a request without failures.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/aggregation/aggregation_run.h"
#include "tools/lab/capsules/dependency_overhead.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StrCat;

struct Service {
  std::string name;
  std::string paper;  // response time over that without capsules
};
const Service kServices[] = {{"RET", "1.035 x"}, {"BBS", "1.046 x"}, {"AUC", "1.053 x"}};
constexpr int kRates[] = {100, 400};
constexpr int kOnlyRate = 400;  // the only rate of the shorter forms
constexpr double kLine = 1.02;
constexpr char kWhyNotShown[] =
    "on a machine with other work, 31 pairs leave an interval that is itself wider than the line";

Point PointOf(const std::string& service, int rate) {
  return Point{{"service", service}}.Set("rate_per_s", rate);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const Service& service : kServices) {
    for (const int rate : kRates) {
      if (length != Length::kFull && rate != kOnlyRate) continue;
      if (length == Length::kSmoke && service.name != "AUC") continue;
      points.push_back(PointOf(service.name, rate));
    }
  }
  return points;
}

// Processor time in the paper's experiments, scaled by the ratio of our measured search time to the
// paper's.
int Scaled(int paper_us) {
  return static_cast<int>(std::lround(paper_us * kRetMeasuredMs / RetProfile().local_ms));
}

DependencyService ServiceOf(const std::string& name) {
  if (name == "RET") return RetService({.partition_ms = kRetMeasuredMs});
  if (name == "BBS") {
    return BbsService({.front_us = Scaled(kBbsFrontUs),
                       .cache_us = Scaled(kBbsCacheUs),
                       .database_us = Scaled(kBbsDatabaseUs)});
  }
  return AucService({.front_us = Scaled(kAucFrontUs), .store_us = Scaled(kAucStoreUs)});
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  return MeasureOverhead({.seed = context.seed,
                          .service = ServiceOf(point.Text("service")),
                          .rate_per_s = point.Number("rate_per_s"),
                          .turn_s = context.Pick(0.05, 0.1, 0.2)});
}

void JudgePoint(const Results& results, const Point& point, const std::string& paper,
                Judgement* judgement) {
  const std::string what =
      StrCat(point.Text("service"), ", ", point.Text("rate_per_s"), " requests per second");
  Estimate ratio = results.Median(point, "processor_ratio");
  judgement->Shown(what + ": processor time with capsules, relative to without", "", ratio, "x");
  // The line applies to the end of the interval.
  if (results.length() == Length::kFull) ratio.middle = ratio.high;
  judgement->AtMost(what + ": the upper end of its 95 % interval", "", ratio, kLine, "x")
      .ShortOfLine(kWhyNotShown);
  judgement->Shown(what + ": response", paper, results.Median(point, "response_ratio"), "x");
}

plot::Plot DrawServices(const Results& results) {
  plot::Plot figure{.name = "overhead",
                    .title = "Processor time of a request (figure 6)",
                    .x = {.label = "requests per second"},
                    .y = {.label = "microseconds", .low = 0},
                    .series = {},
                    .marks = {}};
  for (const Service& service : kServices) {
    for (const auto& [side, metric] : {std::pair(" with capsules", "processor_us_on"),
                                       std::pair(" without", "processor_us_off")}) {
      plot::Series series{.name = service.name + side, .dots = {}};
      for (const Point& point : results.points()) {
        if (point.Text("service") != service.name) continue;
        const Estimate us = results.Median(point, metric);
        series.dots.push_back({point.Number("rate_per_s"), us.middle, us.low, us.high});
      }
      if (!series.dots.empty()) figure.series.push_back(std::move(series));
    }
  }
  return figure;
}

void Judge(const Results& results, Judgement* judgement) {
  for (const Service& service : kServices) {
    for (const Point& point : results.points()) {
      if (point.Text("service") == service.name) {
        JudgePoint(results, point, service.paper, judgement);
      }
    }
  }
  const Estimate us = results.Median(results.points()[0], "processor_us_on");
  judgement
      ->Holds("requests took processor time", "", StrCat(NumberText(us.middle), " us"), "> 0",
              us.middle > 0)
      .Shape();
  judgement->AddPlot(DrawServices(results));
}

}  // namespace

Experiment CapOverhead() {
  Experiment experiment;
  experiment.name = "cap_overhead";
  experiment.title = "Overhead of capsules without failures";
  experiment.source = "[Chu05] VI.B, table I, figure 6";
  experiment.setup =
      "The paper's services on real nodes in one process, with sockets on loopback, at two "
      "rates: with capsules (one for each dependency; requests leave the main pool while they "
      "wait) and without, with a pool that is large enough. Both clusters run side by side and "
      "receive eight requests each, alternately. The processor time is that of the whole "
      "process, including the client. RET's partitions use the measured time of a search of our "
      "index (0.16 ms); the times of the other services are reduced from the paper's by the same "
      "factor.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 4, .full = 31};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
