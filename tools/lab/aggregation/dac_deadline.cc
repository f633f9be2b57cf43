// Soft deadlines that are short compared with the work: the share of the achievable quality that
// each timeout policy reaches.

#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/aggregation/aggregation_run.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StrCat;

// MICRO on 24 dual nodes at 60 % of their capacity.
constexpr double kRate = 40;
constexpr char kQuality[] = "quality_percent";
constexpr char kLate[] = "late_percent";
constexpr char kBound[] = "learned, reductions free";
constexpr const char* kTimeouts[] = {"uniform", "staged", "learned", kBound};

Point PointOf(int deadline_ms, const std::string& timeouts) {
  return Point{{"timeouts", timeouts}}.Set("deadline_ms", deadline_ms);
}

std::vector<int> Deadlines(Length length) {
  if (length == Length::kSmoke) return {200};
  if (length == Length::kQuick) return {75, 100, 150, 200, 300};
  return {50, 75, 100, 125, 150, 200, 250, 300, 400};
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const int deadline : Deadlines(length)) {
    for (const std::string timeouts : kTimeouts) points.push_back(PointOf(deadline, timeouts));
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  AggregationClusterOptions options;
  options.seed = context.seed;
  AggregationLoadOptions load;
  load.rate_per_s = kRate;
  load.warm_up = neptune::FromSeconds(context.Pick(1.0, 3.0, 5.0));
  load.duration = neptune::FromSeconds(context.Pick(3.0, 10.0, 60.0));
  load.timeout = neptune::FromSeconds(point.Number("deadline_ms") / 1e3);
  const std::string timeouts = point.Text("timeouts");
  NEPTUNE_ASSIGN_OR_RETURN(load.timeouts,
                           neptune::ParseTimeoutPolicy(timeouts.substr(0, timeouts.find(','))));
  // Then no result is late at its parent, and the processors have less work: better than
  // achievable.
  if (timeouts == kBound) load.profile.reduce_ms = 0.001;
  AggregationCluster cluster(options);
  const AggregationRunResult result = RunAggregations(cluster, load, context.seed);
  double late = 0;
  double count = 0;
  for (const AggregationOutcome& outcome : result.outcomes) {
    if (!outcome.measured) continue;
    ++count;
    if (outcome.response > load.timeout + std::chrono::milliseconds(5)) ++late;
  }
  return Measurement{{kQuality, 100 * result.MeanQuality()}, {kLate, 100 * late / count}};
}

void Judge(const Results& results, Judgement* judgement) {
  for (const int deadline : Deadlines(results.length())) {
    const std::string at = StrCat(", deadline ", deadline, " ms");
    for (const std::string timeouts : kTimeouts) {
      judgement->Shown(StrCat("quality, ", timeouts, at), "",
                       results.Mean(PointOf(deadline, timeouts), kQuality), "%");
    }
    judgement
        ->AtMost(StrCat("answers more than 5 ms after the deadline", at), "",
                 results.Mean(PointOf(deadline, "learned"), kLate), 0.1, "%")
        .Shape();
    for (const std::string timeouts : {"uniform", "staged"}) {
      judgement->AtLeast(
          StrCat("quality, learned over ", timeouts, at), "",
          results.MeanRatio(PointOf(deadline, "learned"), PointOf(deadline, timeouts), kQuality),
          0.98, "x");
    }
  }
}

}  // namespace

Experiment DacDeadline() {
  Experiment experiment;
  experiment.name = "dac_deadline";
  experiment.title = "Soft deadlines that are short compared with the work";
  experiment.source = "[Chu03] 4.4; the idea of a learned deadline is Cedar's [Kumar16]";
  experiment.setup =
      "MICRO at 40 requests per second, 60 % of the capacity of 24 dual-processor nodes, with "
      "load-adaptive trees and no guarantee. Reductions that take no time show how many partial "
      "results exist at the deadline, which is an upper bound for every policy.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
