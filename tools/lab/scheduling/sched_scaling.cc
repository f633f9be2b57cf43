// Several servers: shared by all classes, or divided among the classes.

#include <algorithm>
#include <cmath>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/scheduling/class_workload.h"

namespace search::lab {
namespace {

using neptune::StrCat;

// Relative to the offered yield, which cancels the randomness of arrivals.
constexpr char kYield[] = "realized_percent";
constexpr const char* kWorkloads[] = {"Micro-benchmark", "Differentiated Search"};
constexpr double kDemands[] = {0.75, 1.25, 2};
constexpr int kServerCounts[] = {1, 2, 4, 8, 16};
constexpr double kOverload = 2;

Point PointOf(const std::string& workload, const std::string& scheme, double demand, int servers) {
  return Point{{"workload", workload}, {"scheme", scheme}}
      .Set("demand", demand)
      .Set("servers", servers);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const std::string workload : kWorkloads) {
    if (length == Length::kSmoke && workload == kWorkloads[0]) continue;
    for (const double demand : kDemands) {
      if (length == Length::kSmoke && demand != kOverload) continue;
      for (const int servers : kServerCounts) {
        if (length == Length::kSmoke && servers != 1 && servers != 8) continue;
        points.push_back(PointOf(workload, "class-aware", demand, servers));
        points.push_back(PointOf(workload, "partitioned", demand, servers));
      }
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  ClassRun run;
  run.workload = point.Text("workload");
  run.demand = point.Number("demand");
  run.server_count = static_cast<int>(point.Number("servers"));
  run.is_partitioned = point.Text("scheme") == "partitioned";
  run.warm_up = std::chrono::seconds(context.Pick(35, 45, 60));
  // Few servers get the same number of requests in a longer time.
  run.length = std::chrono::seconds(context.Pick(20, 40, 200) * 16 / run.server_count);
  return MeasureClasses(run, context.seed);
}

// The gain of yield over divided servers.
Estimate GainOf(const Results& results, const std::string& workload, double demand, int servers) {
  return ExcessPercent(results.MeanRatio(PointOf(workload, "class-aware", demand, servers),
                                         PointOf(workload, "partitioned", demand, servers),
                                         kYield));
}

// The yield per server, relative to that of a single server.
Estimate ScalingOf(const Results& results, const std::string& workload, double demand,
                   int servers) {
  return ExcessPercent(results.MeanRatio(PointOf(workload, "class-aware", demand, servers),
                                         PointOf(workload, "class-aware", demand, 1), kYield));
}

void JudgeGain(const Results& results, Judgement* judgement) {
  const int choices = static_cast<int>(std::size(kWorkloads) * std::size(kServerCounts));
  const Results chosen = results.AmongBest(choices);
  Estimate largest{.middle = -100};
  std::string where;
  for (const std::string workload : kWorkloads) {
    for (const double demand : kDemands) {
      for (const int servers : kServerCounts) {
        if (!results.Has(PointOf(workload, "partitioned", demand, servers))) continue;
        const Estimate gain = GainOf(results, workload, demand, servers);
        const std::string what = StrCat(workload, ", ", servers, " servers, ", 100 * demand, " %");
        judgement->Shown(StrCat("more yield than partitioned: ", what), "", gain, "%");
        if (demand != kOverload || gain.middle <= largest.middle) continue;
        largest = GainOf(chosen, workload, demand, servers);
        where = what;
      }
    }
  }
  judgement->AtLeast(StrCat("more yield than partitioned, at most: ", where), "up to 6 %", largest,
                     6, "%");
}

void JudgeScaling(const Results& results, const std::string& workload, double demand,
                  Judgement* judgement) {
  Estimate furthest{.middle = 0};
  for (const int servers : kServerCounts) {
    if (!results.Has(PointOf(workload, "class-aware", demand, servers))) continue;
    const Estimate off = ScalingOf(results, workload, demand, servers);
    if (std::abs(off.middle) > std::abs(furthest.middle)) furthest = off;
  }
  judgement
      ->Near(StrCat("yield per server relative to a single server, largest deviation: ", workload,
                    ", ", 100 * demand, " %"),
             "scales well", furthest, 0, 5, "%")
      .Shape();
}

void Judge(const Results& results, Judgement* judgement) {
  JudgeGain(results, judgement);
  for (const std::string workload : kWorkloads) {
    const Point whole = PointOf(workload, "class-aware", kOverload, 16);
    plot::Plot figure{.name = StrCat("scaling_", workload == kWorkloads[0] ? "micro" : "search"),
                      .title = workload,
                      .x = {.label = "servers"},
                      .y = {.label = "yield relative to 16 servers at 200 %", .low = 0}};
    for (const double demand : kDemands) {
      if (!results.Has(PointOf(workload, "class-aware", demand, 1))) continue;
      JudgeScaling(results, workload, demand, judgement);
      if (!results.Has(whole)) continue;
      for (const std::string scheme : {"class-aware", "partitioned"}) {
        plot::Series series{.name = StrCat(scheme, ", ", 100 * demand, " %"), .dots = {}};
        for (const int servers : kServerCounts) {
          // The offered yield is proportional to the demand and the number of servers.
          const double part = demand / kOverload * servers / 16;
          const Estimate ratio =
              results.MeanRatio(PointOf(workload, scheme, demand, servers), whole, kYield);
          series.dots.push_back({static_cast<double>(servers), part * ratio.middle,
                                 part * ratio.low, part * ratio.high});
        }
        figure.series.push_back(std::move(series));
      }
    }
    if (!figure.series.empty()) judgement->AddPlot(std::move(figure));
  }
}

}  // namespace

Experiment SchedScaling() {
  Experiment experiment;
  experiment.name = "sched_scaling";
  experiment.title = "Class-aware load distribution compared with server partitioning";
  experiment.source = "[Shen02] 4.5.3, figure 4.11";
  experiment.setup =
      "1 to 16 servers with the adaptive policy, hybrid yields and no guarantees. Either every "
      "class runs on all servers, with poll 3; or the servers are divided among the classes "
      "every 10 s into dedicated and shared ones, by the demand of the last 10 s "
      "(tools/lab/scheduling/server_partitioning.h), with poll 3 within each set. The baseline "
      "knows the exact demand of every class, and starts from the true one.";
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
