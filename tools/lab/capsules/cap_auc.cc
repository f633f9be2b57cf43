// One of three replicas is cut off, and callers detect it after five seconds.

#include <string>
#include <vector>

#include "tools/lab/capsules/dependency_figures.h"
#include "tools/lab/capsules/dependency_real.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StatusOr;

constexpr char kCutOff[] = "store-1";
// 1: a link between hosts of this machine was taken down; 0: a simulated network dropped messages.
constexpr char kLinkTakenDown[] = "link_taken_down";

// Excludes requests that still wait when the link goes down.
struct Times {
  DependencyWindow before;
  DependencyWindow detection;
  DependencyWindow after;
  DependencyWindow back;
};

Times TimesOf(Length length) {
  const auto times = [](double cut_s, double up_s, double length_s) {
    const double detected_s = cut_s + neptune::ToSeconds(kDependencyDetection);
    return Times{.before = {"before", 0, cut_s - 2},
                 .detection = {"detection", cut_s, detected_s},
                 .after = {"after", detected_s + 2, up_s},
                 .back = {"back", up_s + 2, length_s}};
  };
  return length == Length::kQuick ? times(3, 12, 16) : times(7, 20, kDependencyRunS);
}

std::vector<Point> Points(Length length) {
  if (length != Length::kQuick) return DependencyPoints(length, {"UTP", "DC", "DC+FB"});
  return {DependencyPoint("BTP", kDependencySmallPool), DependencyPoint("DC", kDependencyMainPool),
          DependencyPoint("DC+FB", kDependencyMainPool)};
}

// Smoke runs leave out real time.
StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const Times times = TimesOf(context.length);
  DependencyOptions options;
  options.seed = context.seed;
  options.service = AucService();
  options.scheme = SchemeOf(point, point.Text("scheme") == "DC+FB" ? kAucFeedback : "");
  options.rate_per_s = kAucRate;
  options.duration_s = times.back.end_s;
  options.cut = {kCutOff, times.detection.begin_s, times.after.end_s};
  options.detection = kDependencyDetection;
  const std::vector<DependencyWindow> windows = {times.before, times.detection, times.after,
                                                 times.back};
  if (context.world == WorldKind::kReal && context.length != Length::kSmoke &&
      LinkedHosts::Make(1).ok()) {
    NEPTUNE_ASSIGN_OR_RETURN(
        const auto cluster, RealDependencyCluster::StartOnHosts(options, ProcessorTime::kEmulated));
    Measurement measurement = MeasureWindows(cluster->Offer(options.duration_s), windows);
    measurement[kLinkTakenDown] = 1;
    return measurement;
  }
  NEPTUNE_ASSIGN_OR_RETURN(const DependencyResult result, RunDependency(options));
  Measurement measurement = MeasureWindows(result, windows);
  measurement[kLinkTakenDown] = 0;
  return measurement;
}

void NoteOnLink(const Results& results, Judgement* judgement) {
  const Estimate taken = results.Mean(results.points().front(), kLinkTakenDown);
  judgement->Note(
      taken.middle == 1
          ? "The link was really taken down: each node ran in its own network namespace, and the "
            "switch's end of the replica's link was set down and up again."
          : "A simulated network silently dropped all messages to the replica: this is the "
            "simulated world, or network namespaces are not permitted here.");
}

void Judge(const Results& results, Judgement* judgement) {
  const auto lost = [&](const std::string& scheme) {
    return results.Mean(DependencyPoint(scheme, kDependencyMainPool), "loss_percent_detection");
  };
  judgement->AtMost("DC: lost until the failure is detected", "35.3 %", lost("DC"), 36, "%")
      .Shape();
  judgement->AtMost("DC+FB, with one retry within the budget: the same", "", lost("DC+FB"), 3, "%")
      .Shape();
  const Times times = TimesOf(results.length());
  const auto shown = results.length() == Length::kQuick
                         ? results.points()
                         : ShownPoints(results, "loss_percent_detection", {"UTP", "DC", "DC+FB"});
  ShowWindow(results, shown,
             {.window = times.before, .paper = {{"BTP", "0 %", "145 ms"}, {"DC", "0 %", "143 ms"}}},
             judgement);
  ShowWindow(results, shown,
             {.window = times.detection,
              .paper = {{"BTP", "83.3 %", "553 ms"}, {"DC", "35.3 %", "241 ms"}}},
             judgement);
  ShowWindow(results, shown, {.window = times.after}, judgement);
  ShowWindow(results, shown, {.window = times.back}, judgement);
  NoteOnLink(results, judgement);
  judgement->Note(
      "When the failure of the replica is detected, reads that wait for it are sent to another "
      "replica, in every scheme; therefore less than a third is lost.");
  judgement->AddPlot(DrawOverTime(results, shown,
                                  {.name = "auc",
                                   .title = "AUC with one of three replicas cut off (figure 8)",
                                   .y_label = "throughput, per second",
                                   .metric = "quality_per_s",
                                   .marks = {{"cut off", times.detection.begin_s},
                                             {"detected", times.detection.end_s},
                                             {"back", times.after.end_s}}}));
}

}  // namespace

Experiment CapAuc() {
  Experiment experiment;
  experiment.name = "cap_auc";
  experiment.title = "A disconnected replica before its failure is detected";
  experiment.source = "[Chu05] VI.D, figure 8, table III";
  experiment.setup =
      "30 requests per second to an auction with three replicas of its store, chosen at random: "
      "5 % writes, items with Zipf-distributed popularity. The link of one replica is down from "
      "7 to 20 s, so that messages to it are silently dropped. Callers remove it after five "
      "seconds without an announcement; no other mechanism informs them, because the runtime's "
      "own suspicion of nodes is off in all schemes. A request is lost if it is not answered "
      "within 2 s. The sizes of bounded pools (BTP) are swept. With capsules (DC) there is one "
      "for each replica, and a request occupies one of the four places of the main pool only "
      "while it works. With feedback (DC+FB) a capsule limits a call to 1 s, after which a read "
      "is sent to another replica within the retry budget, and after three consecutive failures "
      "the replica is bypassed. In the real world each node has a network namespace, connected "
      "by a bridge, and processor time is emulated; the simulated world, in which more seeds are "
      "cheap, replaces it where namespaces are not permitted.";
  experiment.worlds = {WorldKind::kReal, WorldKind::kSim};
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  // Smoke runs are simulated.
  experiment.recorded_points = [] { return Points(Length::kSmoke); };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
