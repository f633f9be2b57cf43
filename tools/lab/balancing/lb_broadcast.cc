// Choice of the server with the smallest announced load, by announcement interval.

#include <optional>

#include "neptune/base/strings.h"
#include "tools/lab/balancing/balancing_run.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr double kIntervalsMs[] = {31, 62, 125, 250, 500, 1000};
constexpr char kMean[] = "response_ms_mean";

Point PointOf(const std::string& workload, double load, const std::string& policy,
              double interval) {
  return Point{{"workload", workload}, {"policy", policy}}
      .Set("load", load)
      .Set("interval_ms", interval);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const std::string workload : {"Fine-Grain", "Poisson/Exp", "Medium-Grain"}) {
    for (const double load : {0.9, 0.5}) {
      if (length == Length::kSmoke && (workload != "Fine-Grain" || load != 0.9)) continue;
      for (const std::string policy : {"ideal", "poll 3"}) {
        points.push_back(PointOf(workload, load, policy, 1000));
      }
      for (const double interval : kIntervalsMs) {
        if (length == Length::kSmoke && interval != 125 && interval != 1000) continue;
        points.push_back(PointOf(workload, load, "broadcast", interval));
      }
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  BalancingRun run;
  NEPTUNE_ASSIGN_OR_RETURN(run.workload, workload::FindWorkload(point.Text("workload")));
  run.load = point.Number("load");
  run.policy = point.Text("policy");
  run.cluster.announce_interval_ms = static_cast<uint32_t>(point.Number("interval_ms"));
  // The paper's simulation has no admission control; a bound would cut off the longest queues.
  run.cluster.queue_length_max = 100'000;
  run.warm_up_count = context.Pick<uint64_t>(500, 1'000, 5'000);
  run.count = context.Pick<uint64_t>(4'000, 4'000, 40'000);
  return MeasureBalancing(run, context.seed);
}

struct Group {
  std::string workload;
  double load;
  std::string ToString() const { return StrCat(workload, " at ", 100 * load, " %"); }
};

void JudgeGroup(const Results& results, const Group& group, Judgement* judgement,
                plot::Plot* figure) {
  const Point ideal = PointOf(group.workload, group.load, "ideal", 1000);
  plot::Series series{.name = group.ToString(), .dots = {}};
  // The smallest growth from one interval to the next, and the broadcast nearest to polling.
  Estimate growth{.middle = 1e9};
  Estimate nearest{.middle = 1e9};
  std::string found;
  std::optional<Point> before;
  Estimate slowest;
  const Point poll = PointOf(group.workload, group.load, "poll 3", 1000);
  for (const double interval : kIntervalsMs) {
    const Point point = PointOf(group.workload, group.load, "broadcast", interval);
    if (!results.Has(point)) continue;
    slowest = results.MeanRatio(point, ideal, kMean);
    series.dots.push_back({interval, slowest.middle, slowest.low, slowest.high});
    const Estimate over_poll = results.MeanRatio(point, poll, kMean);
    if (over_poll.middle < nearest.middle) nearest = over_poll;
    if (before) {
      const Estimate step = results.MeanRatio(point, *before, kMean);
      if (step.middle < growth.middle) growth = step;
    }
    before = point;
    neptune::StrAppend(&found, found.empty() ? "" : ", ", NumberText(slowest.middle));
  }
  figure->series.push_back(std::move(series));
  const std::string name = group.ToString();
  judgement
      ->AtLeast(StrCat("response time from one interval to the next, smallest growth, ", name),
                "monotone", growth, 1, "x")
      .Shape();
  judgement->Note(StrCat("Relative to ideal, by interval, ", name, ": ", found, "."));
  judgement->AtLeast(StrCat("best broadcast relative to poll 3, ", name), "poll 3 is better",
                     nearest, 1, "x");
  if (group.load == 0.9 && group.workload != "Medium-Grain") {
    judgement->AtLeast(StrCat("interval of 1 s relative to ideal, ", name), "an order of magnitude",
                       slowest, 10, "x");
  } else {
    judgement->Shown(StrCat("interval of 1 s relative to ideal, ", name),
                     group.load == 0.5 ? "up to 3" : "", slowest, "x");
  }
}

void Judge(const Results& results, Judgement* judgement) {
  plot::Plot figure{.name = "broadcast",
                    .title = "Broadcast: response time relative to ideal",
                    .x = {.label = "mean announcement interval, ms", .logarithmic = true},
                    .y = {.label = "mean response time relative to ideal", .logarithmic = true}};
  for (const std::string workload : {"Fine-Grain", "Poisson/Exp", "Medium-Grain"}) {
    for (const double load : {0.9, 0.5}) {
      if (!results.Has(PointOf(workload, load, "ideal", 1000))) continue;
      JudgeGroup(results, {workload, load}, judgement, &figure);
    }
  }
  judgement->AddPlot(std::move(figure));
}

}  // namespace

Experiment LbBroadcast() {
  Experiment experiment;
  experiment.name = "lb_broadcast";
  experiment.title = "Server selection by broadcast load information";
  experiment.source = "[Shen02] 3.2.2, figure 3.2";
  experiment.setup =
      "16 servers, 6 clients. Servers announce their load at intervals drawn uniformly from 0.5 "
      "to 1.5 times the mean; clients call the server with the smallest announced load. Response "
      "times are divided by those of the ideal policy, which knows all queue lengths at no cost. "
      "Queues are unbounded, as in the paper's simulation.";
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
