// Services with equal and with different needs on one machine: whether its capacity is divided by
// threads.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/mtrr/class_kinds.h"
#include "neptune/mtrr/speedup.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/threads/shared_machine.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

// Pages that are read repeatedly, most of them rarely; cached pages need no disk.
const RequestKind kStatic = {.processor_ms = 1,
                             .read_count = 2,
                             .often_read_page_count = 20,
                             .often_share = 0.7,
                             .seldom_read_page_count = 880,
                             .elsewhere_ms = 3};
// Pages generated for each request, with data from elsewhere.
const RequestKind kDynamic = {.processor_ms = 5, .written_count = 40, .elsewhere_ms = 75};

constexpr char kAlike[] = "mixed beside mixed";
constexpr char kUnlike[] = "static beside dynamic";
constexpr char kDynamicAlone[] = "dynamic alone";
constexpr int kFirstThreads[] = {1, 2, 4, 8, 16, 32};
constexpr int kSecondThreads[] = {0, 1, 4, 8, 16, 32, 64};
// The saturation point of the dynamic service alone: 80 ms, of which 5 need the processor.
constexpr int kDynamicSaturation = 16;
constexpr char kThroughput[] = "throughput";

Point PointOf(const std::string& study, int first, int second) {
  return Point{{"study", study}}.Set("first", first).Set("second", second);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const int second : kSecondThreads) {
    for (const int first : kFirstThreads) {
      if (length == Length::kSmoke && first != 1 && first != 32) continue;
      points.push_back(PointOf(kUnlike, first, second));
      if (second == 0 || second == 8 || second == 16) {
        points.push_back(PointOf(kAlike, first, second));
      }
    }
  }
  for (const int first : kFirstThreads) points.push_back(PointOf(kDynamicAlone, first, 0));
  return points;
}

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const std::string& study = point.Text("study");
  const auto first = static_cast<int>(point.Number("first"));
  const auto second = static_cast<int>(point.Number("second"));
  const std::vector<RequestKind> mixed = {kStatic, kDynamic};
  std::vector<MachineService> services = {{first, {kStatic}}, {second, {kDynamic}}};
  if (study == kAlike) services = {{first, mixed}, {second, mixed}};
  if (study == kDynamicAlone) services = {{first, {kDynamic}}, {0, {kStatic}}};
  MachineOptions options;
  options.warm_up_s = context.Pick(5.0, 10.0, 20.0);
  options.length_s = context.Pick(5.0, 20.0, 60.0);
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<double> throughputs,
                           RunSharedMachine(services, options, context.seed));
  return Measurement{{kThroughput, throughputs[0]}, {"throughput_of_second", throughputs[1]}};
}

double Throughput(const Results& results, const std::string& study, int first, int second) {
  return results.Mean(PointOf(study, first, second), kThroughput).middle;
}

// The profile of the service alone, as by `mtrr profile`.
neptune::ClassKind KindOf(const Results& results, const std::string& study) {
  std::vector<neptune::ThroughputPoint> points;
  for (const int first : kFirstThreads) {
    if (!results.Has(PointOf(study, first, 0))) continue;
    points.push_back({first, Throughput(results, study, first, 0)});
  }
  const neptune::SpeedupFit fit = *neptune::FitSpeedup(points);
  return {.name = study, .service_rate = fit.service_rate, .speedup = fit.speedup};
}

// The prediction if threads divide the machine in proportion: (12).
double Shared(const neptune::ClassKind& kind, int first, int second) {
  const double all = first + second;
  return kind.service_rate * kind.speedup.At(all) * first / all;
}

// Equal kinds: the largest deviation from (12) over all allocations.
void JudgeAlike(const Results& results, Judgement* judgement) {
  const neptune::ClassKind kind = KindOf(results, kAlike);
  std::vector<double> deviations;
  for (const int second : {8, 16}) {
    for (const int first : kFirstThreads) {
      if (!results.Has(PointOf(kAlike, first, second))) continue;
      const double measured = Throughput(results, kAlike, first, second);
      deviations.push_back(std::abs(Shared(kind, first, second) / measured - 1));
    }
  }
  judgement->AtMost("one kind: median deviation from a share in proportion to threads",
                    "proportional (12)", MedianOf(deviations), 0.1);
}

// Two kinds: the loss caused by the other kind, with 32 threads of the first.
void JudgeUnlike(const Results& results, Judgement* judgement) {
  const auto left = [](const Results& some, int second) {
    return Throughput(some, kUnlike, 32, second) / Throughput(some, kUnlike, 32, 0);
  };
  judgement
      ->AtLeast("share that one thread of the other kind takes from 32 threads", "significant (P1)",
                results.Jackknife([&](const Results& some) { return 1 - left(some, 1); }), 3.0 / 33)
      .Shape();
  judgement->Shown("share that its number of threads would take in proportion", "",
                   Estimate::Exact(1.0 / 33));
  const auto further = [&](const Results& some) {
    const double one = left(some, 1);
    return (one - left(some, kDynamicSaturation)) / (kDynamicSaturation - 1) / (1 - one);
  };
  judgement->AtMost("taken by each further thread up to its saturation, relative to the first",
                    "small (P2)", results.Jackknife(further), 1.0 / 3, "x");
  judgement->AtMost(
      "share left with 16 to 64 threads of the other kind, relative to that with 1 to 16",
      "much less beyond saturation (P3)", results.Jackknife([&](const Results& some) {
        const double below = left(some, kDynamicSaturation) / left(some, 1);
        return left(some, 64) / left(some, kDynamicSaturation) / below;
      }),
      1, "x");
  judgement->AtLeast("two kinds: how much (12) over-predicts", "not proportional",
                     results.Jackknife([](const Results& some) {
                       const neptune::ClassKind kind = KindOf(some, kUnlike);
                       double worst = 0;
                       for (const int second : {1, 16, 64}) {
                         const double measured = Throughput(some, kUnlike, 32, second);
                         worst = std::max(worst, Shared(kind, 32, second) / measured - 1);
                       }
                       return worst;
                     }),
                     0.3);
}

void JudgeWarning(const Results& results, Judgement* judgement) {
  const neptune::ClassKind fixed = KindOf(results, kUnlike);
  const neptune::ClassKind made = KindOf(results, kDynamicAlone);
  const neptune::ClassKind mixed = KindOf(results, kAlike);
  const bool warns = !neptune::DifferentKinds({fixed, made}).empty();
  const bool quiet = neptune::DifferentKinds({mixed, mixed}).empty();
  judgement
      ->Holds("the plan's warning: for two kinds, for one", "",
              StrCat(warns ? "warns" : "no warning", ", ", quiet ? "no warning" : "warns"),
              "warns, no warning", warns && quiet)
      .Shape();
}

plot::Plot Figure(const Results& results, const std::string& study, const std::string& name,
                  const std::string& title) {
  plot::Plot figure{.name = name,
                    .title = title,
                    .x = {.label = "threads of the first service", .logarithmic = true},
                    .y = {.label = "its requests per second"}};
  for (const int second : kSecondThreads) {
    plot::Series series{.name = second == 0 ? "no sharing" : StrCat(second, " of the other"),
                        .dots = {}};
    for (const int first : kFirstThreads) {
      if (!results.Has(PointOf(study, first, second))) continue;
      const Estimate ours = results.Mean(PointOf(study, first, second), kThroughput);
      series.dots.push_back({static_cast<double>(first), ours.middle, ours.low, ours.high});
    }
    if (!series.dots.empty()) figure.series.push_back(std::move(series));
  }
  return figure;
}

void Judge(const Results& results, Judgement* judgement) {
  JudgeAlike(results, judgement);
  JudgeUnlike(results, judgement);
  JudgeWarning(results, judgement);
  judgement->AddPlot(Figure(results, kAlike, "alike", "Both services of one kind"));
  judgement->AddPlot(Figure(results, kUnlike, "unlike", "Static pages beside dynamic ones"));
}

}  // namespace

Experiment MtrrInterference() {
  Experiment experiment;
  experiment.name = "mtrr_interference";
  experiment.title = "Services that need different resources of one machine";
  experiment.source = "[Jamjoom04] V, figure 5";
  experiment.setup =
      "A simulated machine: one processor with time slices of 10 ms, a disk (4 ms per page), a "
      "cache of 1,000 pages. Static requests: 1 ms of processor time, two of 900 pages, 3 ms to "
      "the client. Dynamic requests: 5 ms of processor time, 40 pages written each time, 75 ms "
      "elsewhere, so that they are saturated with 16 threads. Mixed: one or the other. All "
      "threads are always busy; the figure is the throughput of the first service by its threads "
      "and those of the second. The machine is ours: the source measured one whose disk and "
      "memory it does not describe.";
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
