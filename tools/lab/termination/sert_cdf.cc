// The share of requests answered within a second after a tenth of them become long.

#include <algorithm>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/termination/termination_run.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr const char* kAdmission[] = {"queue 2", "queue 5",         "queue 10",
                                      "none",    "response 300 ms", "response 1000 ms"};
constexpr char kShare[] = "within_1s_percent";

Point PointOf(const std::string& scheme) { return Point{{"scheme", scheme}}; }

std::vector<Point> Points(Length) {
  std::vector<Point> points;
  for (const char* scheme : kAdmission) points.push_back(PointOf(scheme));
  for (const char* scheme : {"loss", "sert"}) points.push_back(PointOf(scheme));
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const auto shift = std::chrono::seconds(context.Pick(10, 40, 200));
  return MeasureTermination(SizeDistributionShift(point.Text("scheme"), shift), context.seed);
}

void Judge(const Results& results, Judgement* judgement) {
  std::string best = kAdmission[0];
  for (const char* scheme : kAdmission) {
    if (results.Mean(PointOf(scheme), kShare).middle > results.Mean(PointOf(best), kShare).middle) {
      best = scheme;
    }
  }
  const Point ours = PointOf("sert");
  judgement
      ->AtLeast("answered in full within 1 s, share of all", "81.7 %", results.Mean(ours, kShare),
                81.7, "%")
      .Shape();
  judgement
      ->AtLeast("the same relative to admission control", "1.80",
                results.MeanRatio(ours, PointOf(best), kShare), 1.8, "x")
      .Shape();
  for (const Point& point : results.points()) {
    judgement->Shown(StrCat("within 1 s, ", point.Text("scheme")),
                     point.Text("scheme") == best ? "45.3 %" : "", results.Mean(point, kShare),
                     "%");
  }
  judgement->Note(StrCat("Admission control at its best setting: ", best, "."));
}

}  // namespace

Experiment SertCdf() {
  Experiment experiment;
  experiment.name = "sert_cdf";
  experiment.title = "Requests answered within a second during a shift of the size distribution";
  experiment.source = "SERT, \"CDF of Response Time during Size Distribution Shift\"";
  experiment.setup =
      "The set-up of sert_shift. The slides do not state whether terminated requests count; here "
      "neither these nor refused requests do: the share is relative to all requests that arrived.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 10};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
