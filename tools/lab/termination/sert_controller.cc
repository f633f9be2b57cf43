// The threshold controller compared with fixed thresholds, for constant loads and for a load that
// rises and falls.

#include <algorithm>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/termination/termination_run.h"
#include "tools/workload/workloads.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr const char* kApplications[] = {"Index matching", "Ranking"};
constexpr const char* kFixed[] = {"fixed 500 ms", "fixed 3000 ms", "fixed 15000 ms"};
constexpr const char* kAdaptive[] = {"loss", "sert"};
constexpr double kLoads[] = {0.5, 0.7, 0.9, 1.1, 1.5, 2};
// Represents a load that goes through all of them and back.
constexpr double kUpAndDown = 0;
constexpr char kAnswered[] = "answered_per_s";

Point PointOf(const std::string& application, const std::string& scheme, double load) {
  return Point{{"application", application}, {"scheme", scheme}}.Set("load", load);
}

std::vector<std::string> Schemes() {
  std::vector<std::string> schemes(std::begin(kFixed), std::end(kFixed));
  schemes.insert(schemes.end(), std::begin(kAdaptive), std::end(kAdaptive));
  return schemes;
}

std::vector<double> Loads(Length length) {
  if (length == Length::kSmoke) return {0.7, 1.5};
  std::vector<double> loads(std::begin(kLoads), std::end(kLoads));
  loads.push_back(kUpAndDown);
  return loads;
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const char* application : kApplications) {
    for (const double load : Loads(length)) {
      for (const std::string& scheme : Schemes()) {
        points.push_back(PointOf(application, scheme, load));
      }
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(const workload::Workload application,
                           workload::FindWorkload(point.Text("application")));
  const auto warm_up = std::chrono::seconds(3);
  const auto length = std::chrono::seconds(context.Pick(60, 60, 300));
  TerminationRun run;
  run.scheme = point.Text("scheme");
  run.lower_bound_ms = 500;
  run.upper_bound_ms = 15000;
  run.from = warm_up;
  run.until = warm_up + length;
  std::vector<double> loads = {point.Number("load")};
  if (loads.front() == kUpAndDown) {
    loads.assign(std::begin(kLoads), std::end(kLoads));
    loads.insert(loads.end(), std::rbegin(kLoads) + 1, std::rend(kLoads));
  }
  for (size_t i = 0; i < loads.size(); ++i) {
    run.phases.push_back(
        {.until = warm_up + length * static_cast<int>(i + 1) / static_cast<int>(loads.size()),
         .gap_ms = application.GapFor(loads[i], kTerminationProcessors),
         .service_ms = application.classes.front().service});
  }
  return MeasureTermination(run, context.seed);
}

// The fixed threshold with the most answers at this load.
std::string BestFixed(const Results& results, const std::string& application, double load) {
  return *std::max_element(
      std::begin(kFixed), std::end(kFixed), [&](const char* one, const char* other) {
        return results.Mean(PointOf(application, one, load), kAnswered).middle <
               results.Mean(PointOf(application, other, load), kAnswered).middle;
      });
}

void Judge(const Results& results, Judgement* judgement) {
  for (const std::string application : kApplications) {
    plot::Plot figure{.name = application == "Ranking" ? "ranking" : "matching",
                      .title = StrCat(application, ": answered relative to offered"),
                      .x = {.label = "load"},
                      .y = {.label = "%", .low = 0, .high = 105}};
    for (const std::string& scheme : Schemes()) {
      plot::Series series{.name = scheme, .dots = {}};
      for (const double load : kLoads) {
        const Point point = PointOf(application, scheme, load);
        if (!results.Has(point)) continue;
        const Estimate answered = results.Mean(point, kAnswered);
        const double offered = results.Mean(point, "offered_per_s").middle;
        series.dots.push_back({load, 100 * answered.middle / offered, 100 * answered.low / offered,
                               100 * answered.high / offered});
      }
      figure.series.push_back(std::move(series));
    }
    judgement->AddPlot(std::move(figure));
    for (const double load : Loads(results.length())) {
      const std::string best = BestFixed(results, application, load);
      const std::string where = load == kUpAndDown ? StrCat(application, ", load up and down")
                                                   : StrCat(application, " at ", 100 * load, " %");
      const auto over_best = [&](const char* scheme) {
        return results.MeanRatio(PointOf(application, scheme, load),
                                 PointOf(application, best, load), kAnswered);
      };
      judgement
          ->AtLeast(StrCat("answered relative to the best fixed threshold, ", where),
                    "best overall", over_best("sert"), 0.97, "x")
          .Shape();
      judgement->Shown(StrCat("the paper's controller, ", where), "", over_best("loss"), "x");
      judgement->Shown(
          StrCat("worst fixed threshold, ", where), "",
          [&] {
            Estimate worst = results.MeanRatio(PointOf(application, kFixed[0], load),
                                               PointOf(application, best, load), kAnswered);
            for (const char* scheme : kFixed) {
              const Estimate one = over_best(scheme);
              if (one.middle < worst.middle) worst = one;
            }
            return worst;
          }(),
          "x");
    }
  }
}

}  // namespace

Experiment SertController() {
  Experiment experiment;
  experiment.name = "sert_controller";
  experiment.title = "The threshold controller compared with fixed thresholds";
  experiment.source = "SERT, \"Evaluation of Threshold Controller\" for Ranking and Index Matching";
  experiment.setup =
      "Index matching and Ranking on a server with two processors, at constant loads and at one "
      "that passes through these loads upwards and downwards. Fixed thresholds are 0.5, 3 and 15 "
      "s; the controllers choose between 0.5 and 15 s.";
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 10};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
