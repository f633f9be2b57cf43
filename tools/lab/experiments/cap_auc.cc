// One of three replicas is cut off, and callers do not know for five seconds.

#include <vector>

#include "tools/lab/dependency_figures.h"
#include "tools/lab/experiments/experiments.h"

namespace search::lab {
namespace {

constexpr double kCutS = 7;
constexpr double kDetectedS = 12;
// Requests that still wait when the link goes down are no longer among these.
const DependencyWindow kBefore = {"before", 0, 5};
const DependencyWindow kDetection = {"detection", kCutS, kDetectedS};
const DependencyWindow kAfter = {"after", 14, 30};

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  DependencyOptions options;
  options.seed = context.seed;
  options.service = AucService();
  options.scheme = SchemeOf(point, point.Text("scheme") == "DC+FB" ? kAucFeedback : "");
  options.rate_per_s = kAucRate;
  options.cut = {"store-1", kCutS};
  options.detection = kDependencyDetection;
  NEPTUNE_ASSIGN_OR_RETURN(const DependencyResult result, RunDependency(options));
  return MeasureWindows(result, {kBefore, kDetection, kAfter});
}

void Judge(const Results& results, Judgement* judgement) {
  const auto lost = [&](const std::string& scheme) {
    return results.Mean(DependencyPoint(scheme, kDependencyMainPool), "loss_percent_detection");
  };
  judgement->AtMost("DC: lost until the failure is detected", "35.3 %", lost("DC"), 36, "%")
      .Shape();
  judgement->AtMost("DC+FB, with one retry within the budget: the same", "", lost("DC+FB"), 3, "%")
      .Shape();
  const auto shown = ShownPoints(results, "loss_percent_detection", {"UTP", "DC", "DC+FB"});
  ShowWindow(results, shown,
             {.window = kBefore, .paper = {{"BTP", "0 %", "145 ms"}, {"DC", "0 %", "143 ms"}}},
             judgement);
  ShowWindow(
      results, shown,
      {.window = kDetection, .paper = {{"BTP", "83.3 %", "553 ms"}, {"DC", "35.3 %", "241 ms"}}},
      judgement);
  ShowWindow(results, shown, {.window = kAfter}, judgement);
  judgement->Note(
      "When the replica is found to be gone, reads that wait for it are asked elsewhere, in every "
      "scheme: so less than a third is lost.");
  judgement->AddPlot(DrawOverTime(results, shown,
                                  {.name = "auc",
                                   .title = "AUC with one of three replicas cut off (figure 8)",
                                   .y_label = "throughput, a second",
                                   .metric = "quality_per_s",
                                   .marks = {{"cut off", kCutS}, {"detected", kDetectedS}}}));
}

}  // namespace

Experiment CapAuc() {
  Experiment experiment;
  experiment.name = "cap_auc";
  experiment.title = "A replica that is cut off before anybody knows";
  experiment.source = "dependency capsules VI.D, figure 8, table III";
  experiment.setup =
      "30 requests a second at an auction over three replicas of its store, chosen at random: 5 % "
      "writes, items by Zipf's law. At 7 s the link of one replica goes down: what is sent there "
      "is dropped in silence. Callers forget it after five seconds without an announcement; "
      "nothing else tells them, the runtime's own doubts being off for all. A request is lost if "
      "it is not answered within 2 s. Bounded pools (BTP) are swept. With capsules (DC) there is "
      "one for each replica, and a request holds its place in a main pool of four only while it "
      "works; with feedback (DC+FB) a capsule gives a call 1 s, after which a read is asked of "
      "another replica within the budget for retries, and after three in a row that failed the "
      "replica is passed by.";
  experiment.seeds = {.smoke = 1, .quick = 10, .full = 30};
  experiment.points = [](Length length) {
    return DependencyPoints(length, {"UTP", "DC", "DC+FB"});
  };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
