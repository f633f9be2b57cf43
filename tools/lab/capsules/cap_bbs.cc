// One of two page caches is unresponsive for ten seconds: pages come from the database instead,
// after the timeout or at once.

#include <string>
#include <vector>

#include "tools/lab/capsules/bbs_processes.h"
#include "tools/lab/capsules/dependency_figures.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

// The same requests without any failure.
constexpr char kHealthy[] = "DC, healthy";

struct Times {
  DependencyWindow before;
  DependencyWindow during;
  DependencyWindow recovery;
};

Times TimesOf(Length length) {
  const auto times = [](double begin_s, double end_s, double length_s) {
    return Times{{"before", 0, begin_s}, {"during", begin_s, end_s}, {"recovery", end_s, length_s}};
  };
  switch (length) {
    case Length::kSmoke:
      return times(0.5, 2, 2.2);
    case Length::kQuick:
      return times(1, 11, 12);
    case Length::kFull:
      break;
  }
  return times(10, 20, kDependencyRunS);
}

Point Ours(const std::string& scheme) { return DependencyPoint(scheme, kDependencyMainPool); }

std::vector<Point> Points(Length length) {
  if (length == Length::kSmoke) return {Ours("DC+FB")};
  if (length == Length::kFull) return DependencyPoints(length, {"UTP", "DC", "DC+FB", kHealthy});
  return {DependencyPoint("BTP", kDependencySmallPool), Ours("DC"), Ours("DC+FB"), Ours(kHealthy)};
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const std::string& scheme = point.Text("scheme");
  const Times times = TimesOf(context.length);
  BbsProcessesOptions options;
  options.seed = context.seed;
  options.scheme = SchemeOf(point, scheme == "DC+FB" ? kBbsFeedback : "");
  options.length_s = times.recovery.end_s;
  if (scheme != kHealthy) options.hang = {times.during.begin_s, times.during.end_s};
  NEPTUNE_ASSIGN_OR_RETURN(const DependencyResult result, RunBbsProcesses(options));
  Measurement measurement = MeasureWindows(result, {times.before, times.during, times.recovery});
  measurement["hit_percent"] = result.HitPercent(0, times.recovery.end_s);
  return measurement;
}

void JudgeSmoke(const Results& results, Judgement* judgement) {
  judgement
      ->AtMost("DC+FB: lost while a cache is unresponsive", "0.4 %",
               results.Mean(Ours("DC+FB"), "loss_percent_during"), 0.4, "%")
      .Shape();
}

void Judge(const Results& results, Judgement* judgement) {
  JudgeSmoke(results, judgement);
  if (judgement->length() == Length::kSmoke) return;
  judgement->AtMost("DC+FB: response time during the failure, relative to no failure", "7.0 x",
                    results.MeanRatio(Ours("DC+FB"), Ours(kHealthy), "response_ms_during"), 1.5,
                    "x");
  judgement->Shown("pages found in the caches", "68 %", results.Mean(Ours(kHealthy), "hit_percent"),
                   "%");
  std::vector<std::string> others = {"DC", "DC+FB", kHealthy};
  if (judgement->length() == Length::kFull) others.insert(others.begin(), "UTP");
  const auto shown = ShownPoints(results, "loss_percent_during", others);
  const Times times = TimesOf(results.length());
  ShowWindow(
      results, shown,
      {.window = times.before,
       .paper = {{"BTP", "0 %", "61.7 ms"}, {"DC", "0 %", "60.2 ms"}, {"DC+FB", "0 %", "61.8 ms"}}},
      judgement);
  ShowWindow(results, shown,
             {.window = times.during,
              .paper = {{"BTP", "87.8 %", "965 ms"},
                        {"DC", "48.8 %", "100 ms"},
                        {"DC+FB", "0.4 %", "431 ms"}}},
             judgement);
  ShowWindow(results, shown, {.window = times.recovery}, judgement);
  judgement->Note(
      "In the paper DC lost the requests that the failed cache did not answer within half a "
      "second. Here such a page is generated from the database, late, in every scheme.");
  judgement->AddPlot(DrawOverTime(
      results, shown,
      {.name = "bbs",
       .title = "BBS with one cache unresponsive (figure 11)",
       .y_label = "throughput, per second",
       .metric = "quality_per_s",
       .marks = {{"unresponsive", times.during.begin_s}, {"back", times.during.end_s}}}));
}

}  // namespace

Experiment CapBbs() {
  Experiment experiment;
  experiment.name = "cap_bbs";
  experiment.title = "An unresponsive page cache";
  experiment.source = "[Chu05] VI.E, figure 11, table V";
  experiment.setup =
      "70 requests per second to a forum with two Redis servers as page caches, partitioned by "
      "page name, and a database of ten thousand topics with Zipf-distributed popularity. The "
      "forum's handlers query Redis with Debian's unmodified hiredis, which blocks; the calls of "
      "the program are interposed. The second Redis server is suspended (SIGSTOP) for ten "
      "seconds. Every scheme waits half a second for it, after which the page is generated from "
      "the database. With capsules (DC) there is one for each Redis server, and a request "
      "occupies one of the four places of the main pool only while it works. With feedback "
      "(DC+FB) hiredis is refused the connection, or its read, when calls accumulate, and the "
      "page is generated at once. A request is lost if it is not answered within 2 s. Processor "
      "time of the forum (20 ms) and of the database (20 ms per topic) is emulated, with two "
      "processors each; the database has the capacity to serve the pages of a bypassed cache.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
