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
    judgement->Shown(StrCat(load, ": answered, order by relief relative to order by age"), "",
                     results.MeanRatio(by_relief, by_age, "answered_per_s"), "x");
    for (const auto& [value, unit] : kShown) {
      for (const Point& point : {by_age, by_relief}) {
        judgement->Shown(StrCat(load, ", ", point.Text("scheme"), ": ", value), "",
                         results.Mean(point, value), unit);
      }
    }
  }
  judgement
      ->AtLeast("waiting: answered of those that wait for another node, by relief", "",
                results.Mean(PointOf("waiting", "relief"), "waiting_percent"), 90, "%")
      .Shape();
}

}  // namespace

Experiment SertRanking() {
  Experiment experiment;
  experiment.name = "sert_ranking";
  experiment.title = "Which requests to terminate first";
  experiment.source =
      "bounds of this system; the idea is from Atropos: terminate the holders of the scarce "
      "resource";
  experiment.setup =
      "A server with two processors whose requests may be terminated after 50 ms while others "
      "are lost or wait that long: either all that are older (sert), or one after the other, "
      "starting with the request that has occupied a place of the pool for the longest time "
      "(relief). shift: the load of sert_shift. waiting: 36 requests per second, 70 % of the "
      "capacity; a tenth of them compute for 300 ms, the others for 10 ms, and a fifth of the "
      "latter then wait 300 ms for another node.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 10};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
