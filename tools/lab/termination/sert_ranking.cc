// The order of termination: the oldest request first, or the one with the most resources.

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/termination/termination_run.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr const char* kLoads[] = {"shift", "waiting"};
constexpr const char* kSchemes[] = {"sert", "relief"};
constexpr const char* kShown[][2] = {{"answered_per_s", "/s"},   {"mean_ms", "ms"},
                                     {"within_1s_percent", "%"}, {"short_percent", "%"},
                                     {"short_p99_ms", "ms"},     {"waiting_percent", "%"},
                                     {"long_percent", "%"}};

Point PointOf(const std::string& load, const std::string& scheme) {
  return Point{{"load", load}, {"scheme", scheme}};
}

std::vector<Point> Points(Length) {
  std::vector<Point> points;
  for (const char* load : kLoads) {
    for (const char* scheme : kSchemes) points.push_back(PointOf(load, scheme));
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const auto time = std::chrono::seconds(context.Pick(10, 40, 200));
  const std::string scheme = point.Text("scheme");
  return MeasureTermination(point.Text("load") == "shift" ? SizeDistributionShift(scheme, time)
                                                          : LongAndWaiting(scheme, time),
                            context.seed);
}

void Judge(const Results& results, Judgement* judgement) {
  for (const std::string load : kLoads) {
    const Point by_age = PointOf(load, "sert");
    const Point by_relief = PointOf(load, "relief");
    judgement->Shown(StrCat(load, ": answered, by relief over by age"), "",
                     results.MeanRatio(by_relief, by_age, "answered_per_s"), "x");
    for (const auto& [value, unit] : kShown) {
      for (const Point& point : {by_age, by_relief}) {
        judgement->Shown(StrCat(load, ", ", point.Text("scheme"), ": ", value), "",
                         results.Mean(point, value), unit);
      }
    }
  }
  judgement
      ->AtLeast("waiting: of those that wait elsewhere, by relief", "",
                results.Mean(PointOf("waiting", "relief"), "waiting_percent"), 90, "%")
      .Shape();
}

}  // namespace

Experiment SertRanking() {
  Experiment experiment;
  experiment.name = "sert_ranking";
  experiment.title = "Who is ended first";
  experiment.source = "no paper's: after Atropos, who holds what is short";
  experiment.setup =
      "A server of two processors whose requests may be ended from 50 ms on while others are lost "
      "or wait that long: all that are older (sert), or one after the other, first who has had a "
      "place of the pool the longest (relief). shift: that of sert_shift. waiting: 36 requests a "
      "second, 70 % of what it can do; a tenth work for 300 ms, the others for 10 ms, and a fifth "
      "of these then wait 300 ms for another node.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 10};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
