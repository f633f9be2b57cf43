// Threads of a class beside an overloaded class, predicted and simulated; plans for two and three
// classes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/mtrr/response_model.h"
#include "neptune/mtrr/thread_plan.h"
#include "neptune/world/random_source.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/threads/threaded_host.h"
#include "tools/lab/threads/threaded_node.h"

namespace search::lab {
namespace {

using neptune::PlanInput;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::ThreadPlan;

// The source's mixed workload.
constexpr double kServiceRate = 50;
constexpr double kAlpha = 0.14;
constexpr int kSaturation = 23;
constexpr int kQueue = 128;
constexpr double kHighRate = 100;

constexpr int kLowThreads[] = {8, 16};
constexpr int kHighThreadsMax = 32;
constexpr double kGoalsS[] = {0.3, 0.5, 1, 2};

// Exponential service times, but through whole nodes.
constexpr char kNode[] = "node";

neptune::Speedup Mixed() { return *neptune::Speedup::Make(kAlpha, kSaturation); }

Point WorstCasePoint(const std::string& service, int low, int high) {
  return Point{{"study", "worst case"}, {"service", service}}.Set("low", low).Set("high", high);
}

Point PlanPoint(int classes, const std::string& service = "exponential") {
  return Point{{"study", "plan"}, {"service", service}}.Set("classes", classes);
}

neptune::ResponseModel Predicted(int low, int high) {
  return *neptune::PredictResponse({.arrival_rate = kHighRate,
                                    .service_rate = kServiceRate,
                                    .speedup = Mixed(),
                                    .thread_count = high,
                                    .queue_length_max = kQueue,
                                    .overloaded_thread_count = low});
}

workload::Distribution ServiceTime(const std::string& service) {
  const double mean_ms = 1000 / kServiceRate;
  return service == "gamma" ? workload::Distribution::Gamma(mean_ms, 2 * mean_ms)
                            : workload::Distribution::Exponential(mean_ms);
}

// One class with given arrivals, and one whose threads are always busy.
StatusOr<ThreadedOutcome> Simulate(double arrival_rate, int threads, int others,
                                   const std::string& service, const RunContext& context) {
  ThreadedRun run{.classes = {{.thread_count = threads,
                               .queue_length_max = kQueue,
                               .arrival_rate = arrival_rate,
                               .service_ms = ServiceTime(service)},
                              {.thread_count = others, .service_ms = ServiceTime(service)}},
                  .speedup = Mixed()};
  run.length_s = context.Pick(20.0, 60.0, 300.0);
  NEPTUNE_ASSIGN_OR_RETURN(const auto outcomes, service == kNode
                                                    ? RunThreadedNode(run, context.seed)
                                                    : RunThreadedHost(run, context.seed));
  return outcomes[0];
}

StatusOr<Measurement> MeasureWorstCase(const Point& point, const RunContext& context) {
  const int low = static_cast<int>(point.Number("low"));
  const int high = static_cast<int>(point.Number("high"));
  NEPTUNE_ASSIGN_OR_RETURN(const ThreadedOutcome outcome,
                           Simulate(kHighRate, high, low, point.Text("service"), context));
  const neptune::ResponseModel predicted = Predicted(low, high);
  return Measurement{{"response_s", outcome.response_s_mean},
                     {"predicted_s", predicted.response_s},
                     {"loss_share", outcome.loss_share},
                     {"load", predicted.load}};
}

// Plausible goals of an operator: the more valuable the class, the shorter the time.
PlanInput Asked(int classes) {
  const auto limited = [](const char* name, double rate, double weight, double limit_s) {
    return neptune::PlannedClass{.name = name,
                                 .arrival_rate = rate,
                                 .queue_length_max = kQueue,
                                 .holding_cost = [weight](double s) { return weight * s; },
                                 .response_max_s = limit_s};
  };
  PlanInput input{
      .classes = {}, .service_rate = kServiceRate, .speedup = Mixed(), .thread_count_max = 48};
  if (classes == 2) {
    input.classes = {limited("gold", 100, 10, 0.125), limited("bronze", 60, 1, 0.18)};
  } else {
    input.classes = {limited("gold", 70, 10, 0.125), limited("silver", 40, 3, 0.14),
                     limited("bronze", 30, 1, 0.16)};
  }
  return input;
}

// Random rates, costs and limits, with few enough threads to try every allocation.
PlanInput Drawn(int classes, uint64_t seed) {
  neptune::RandomSource random(seed);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * random.Uniform();
  };
  PlanInput input{
      .classes = {},
      .service_rate = kServiceRate,
      .speedup = *neptune::Speedup::Make(uniform(0, 0.5), 1 + static_cast<int>(random.Below(12))),
      .thread_count_max = classes == 2 ? 32 : 20};
  for (int i = 0; i < classes; ++i) {
    const double weight = uniform(1, 10);
    const double power = uniform(1, 3);
    neptune::PlannedClass one{
        .name = StrCat("class", i),
        .arrival_rate = uniform(5, 60),
        .queue_length_max = static_cast<int>(random.Below(128)),
        .holding_cost = [weight, power](double s) { return weight * std::pow(s, power); },
        .response_max_s = {}};
    if (random.Below(2) == 0) one.response_max_s = uniform(0.1, 2);
    input.classes.push_back(std::move(one));
  }
  return input;
}

// The minimum cost over all allocations; infinite if none meets the limits.
double LeastByTrial(const PlanInput& input, std::vector<int>* threads, int left) {
  const size_t number = threads->size();
  double least = std::numeric_limits<double>::infinity();
  if (number < input.classes.size()) {
    for (int own = 1; own <= left; ++own) {
      threads->push_back(own);
      least = std::min(least, LeastByTrial(input, threads, left - own));
      threads->pop_back();
    }
    return least;
  }
  const int all = input.thread_count_max - left;
  double cost = 0;
  for (size_t i = 0; i < number; ++i) {
    const neptune::PlannedClass& one = input.classes[i];
    const int own = (*threads)[i];
    const double response_s =
        neptune::PredictResponse({one.arrival_rate, input.service_rate, input.speedup, own,
                                  one.queue_length_max, all - own})
            ->response_s;
    if (one.response_max_s && response_s > *one.response_max_s) return least;
    cost += one.holding_cost(response_s);
  }
  return cost;
}

// The relative excess of the plan's cost over the minimum; 1 if only one of the two finds an
// allocation.
double CostDeviation(const PlanInput& input) {
  std::vector<int> threads;
  const double least = LeastByTrial(input, &threads, input.thread_count_max);
  const StatusOr<ThreadPlan> plan = neptune::PlanThreads(input);
  if (!plan.ok() || std::isinf(least)) return plan.ok() == std::isinf(least) ? 1 : 0;
  return std::abs(plan->cost / least - 1);
}

// The plan's classes, each in its worst case.
StatusOr<Measurement> MeasurePlan(const Point& point, const RunContext& context) {
  const int classes = static_cast<int>(point.Number("classes"));
  Measurement measured;
  if (point.Text("service") != kNode) {
    measured["cost_deviation"] = CostDeviation(Drawn(classes, context.seed));
  }
  const PlanInput input = Asked(classes);
  NEPTUNE_ASSIGN_OR_RETURN(const ThreadPlan plan, neptune::PlanThreads(input));
  for (size_t i = 0; i < plan.classes.size(); ++i) {
    const neptune::PlannedThreads& one = plan.classes[i];
    NEPTUNE_ASSIGN_OR_RETURN(
        const ThreadedOutcome outcome,
        Simulate(input.classes[i].arrival_rate, one.thread_count,
                 plan.thread_count - one.thread_count, point.Text("service"), context));
    measured[StrCat(one.name, "_threads")] = one.thread_count;
    measured[StrCat(one.name, "_predicted_s")] = one.worst_case.response_s;
    measured[StrCat(one.name, "_of_limit")] =
        outcome.response_s_mean / *input.classes[i].response_max_s;
  }
  return measured;
}

std::vector<int> HighThreads(Length length) {
  if (length == Length::kSmoke) return {4, 12, 24};
  std::vector<int> threads;
  for (int m = 2; m <= kHighThreadsMax; m += length == Length::kQuick ? 4 : 1) threads.push_back(m);
  return threads;
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const int low : kLowThreads) {
    for (const int high : HighThreads(length)) {
      points.push_back(WorstCasePoint("exponential", low, high));
      if (length == Length::kSmoke || high % 4 == 2) {
        points.push_back(WorstCasePoint(kNode, low, high));
      }
      if (length != Length::kSmoke && high % 4 == 2) {
        points.push_back(WorstCasePoint("gamma", low, high));
      }
    }
  }
  for (const int classes : {2, 3}) {
    points.push_back(PlanPoint(classes));
    if (length != Length::kSmoke) points.push_back(PlanPoint(classes, kNode));
  }
  return points;
}

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  return point.Text("study") == "plan" ? MeasurePlan(point, context)
                                       : MeasureWorstCase(point, context);
}

// Response time by threads, at the measured points.
struct Curve {
  plot::Series measured;
  plot::Series predicted;
  std::vector<double> errors;  // outside of the critical region
};

Curve CurveOf(const Results& results, const std::string& service, int low) {
  Curve curve{.measured = {.name = StrCat(low, " low threads, ", service), .dots = {}},
              .predicted = {.name = StrCat(low, " low threads, predicted"),
                            .dots = {},
                            .style = plot::Series::Style::kLines},
              .errors = {}};
  for (int high = 1; high <= kHighThreadsMax; ++high) {
    const Point point = WorstCasePoint(service, low, high);
    if (!results.Has(point)) continue;
    const Estimate ours = results.Mean(point, "response_s");
    const neptune::ResponseModel model = Predicted(low, high);
    curve.measured.dots.push_back({static_cast<double>(high), ours.middle, ours.low, ours.high});
    curve.predicted.dots.push_back({static_cast<double>(high), model.response_s});
    if (std::abs(model.load - 1) < 0.1) continue;
    curve.errors.push_back(std::abs(model.response_s / ours.middle - 1));
  }
  return curve;
}

// The smallest number of threads of a line that meets the goal; 0: none.
double FewestThreads(const plot::Series& series, double goal_s) {
  for (const plot::Dot& dot : series.dots) {
    if (dot.y <= goal_s) return dot.x;
  }
  return 0;
}

void JudgeGoals(const Curve& curve, int low, Judgement* judgement) {
  for (const double goal_s : kGoalsS) {
    const double predicted = FewestThreads(curve.predicted, goal_s);
    const double measured = FewestThreads(curve.measured, goal_s);
    judgement->Holds(
        StrCat("threads needed to answer within ", goal_s, " s, beside ", low, " of the low class"),
        goal_s == 1 && low == 8 ? "10 at least" : "close to measured",
        StrCat(measured, " measured, ", predicted, " predicted"), "within 1",
        predicted > 0 && std::abs(predicted - measured) <= 1);
  }
}

void JudgePlan(const Results& results, int classes, Judgement* judgement) {
  const Point point = PlanPoint(classes);
  judgement
      ->AtMost(
          StrCat("cost of plans for ", classes, " classes, largest deviation from the minimum"),
          "optimal", results.Largest(point, "cost_deviation"), 1e-9)
      .Shape();
  for (const neptune::PlannedClass& one : Asked(classes).classes) {
    const double threads = results.Values(point, one.name + "_threads").front();
    const std::string what =
        StrCat(one.name, " of ", classes, ", ", threads,
               " threads, all others overloaded: response time relative to its limit");
    judgement->AtMost(what, "guaranteed", results.Mean(point, one.name + "_of_limit"), 1, "x");
    const Point nodes = PlanPoint(classes, kNode);
    if (!results.Has(nodes)) continue;
    judgement->AtMost(what + ", with whole nodes", "guaranteed",
                      results.Mean(nodes, one.name + "_of_limit"), 1, "x");
  }
}

void Judge(const Results& results, Judgement* judgement) {
  plot::Plot figure{
      .name = "worst_case",
      .title = "Mean response time of the high class while the low class is overloaded",
      .x = {.label = "threads of the high class"},
      .y = {.label = "s", .logarithmic = true}};
  for (const int low : kLowThreads) {
    Curve curve = CurveOf(results, "exponential", low);
    judgement
        ->AtMost(StrCat("median error of the prediction, beside ", low, " threads"),
                 "close to measured", MedianOf(curve.errors), 0.1)
        .Shape();
    if (judgement->length() == Length::kFull) JudgeGoals(curve, low, judgement);
    judgement
        ->AtMost(StrCat("the same with whole nodes, beside ", low, " threads"), "",
                 MedianOf(CurveOf(results, kNode, low).errors), 0.1)
        .Shape();
    const Curve gamma = CurveOf(results, "gamma", low);
    if (!gamma.errors.empty()) {
      judgement->Shown(
          StrCat("the same, with twice the spread of service times, beside ", low, " threads"), "",
          MedianOf(gamma.errors));
    }
    figure.series.push_back(std::move(curve.measured));
    figure.series.push_back(std::move(curve.predicted));
  }
  JudgePlan(results, 2, judgement);
  JudgePlan(results, 3, judgement);
  judgement->AddPlot(std::move(figure));
}

}  // namespace

Experiment MtrrClasses() {
  Experiment experiment;
  experiment.name = "mtrr_classes";
  experiment.title = "Thread allocation for classes with response time limits";
  experiment.source = "[Jamjoom04] VI and VII.B, figure 9";
  experiment.setup =
      "A simulated host (mu = 50/s, G of the source's mixed workload: alpha 0.14, saturation 23, "
      "time slices of 10 ms). The high class receives 100 requests per second and has a queue of "
      "128; the low one has 8 or 16 threads that are always busy; 5 minutes, 20 repetitions. "
      "Then plans for two and three classes: their cost is compared with every possible "
      "allocation, for randomly drawn rates, costs and limits; and for one plan each the classes "
      "are simulated in their worst cases. The critical region, where load is within a tenth of "
      "capacity, is excluded from the error, as in the source.";
  experiment.seeds = {.smoke = 1, .quick = 3, .full = 20};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
