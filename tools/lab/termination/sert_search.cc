// The effect of pathological queries on all others of a search, with and without early termination.

#include <algorithm>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/termination/termination_run.h"
#include "tools/lab/workloads/search_load.h"
#include "tools/lab/workloads/synthetic_search.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

constexpr double kUsualRate = 100;
// Share of the capacity of the processors; a usual query costs almost none of it.
constexpr double kDemand = 1.5;
constexpr const char* kAdmission[] = {"none", "queue 5", "queue 10"};
constexpr const char* kEnding[] = {"fixed", "loss", "sert"};
constexpr char kGood[] = "good_percent";
constexpr char kGoodput[] = "goodput_per_s";
constexpr char kPathologicalGood[] = "pathological_good_percent";
constexpr char kCut[] = "pathological_cut_percent";

Point PointOf(const std::string& scheme) { return Point{{"scheme", scheme}}; }

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const char* scheme : kAdmission) points.push_back(PointOf(scheme));
  for (const char* scheme : kEnding) points.push_back(PointOf(scheme));
  if (length == Length::kSmoke) points = {PointOf("none"), PointOf("fixed"), PointOf("sert")};
  return points;
}

MadeSearchOptions SchemeOf(const std::string& scheme, int lower_bound_ms) {
  MadeSearchOptions options;
  const std::string lower = StrCat("lower_bound_ms: ", lower_bound_ms);
  const std::string limits = lower + " upper_bound_ms: 500";
  if (scheme == "queue 5") options.queue_length_max = 5;
  if (scheme == "queue 10") options.queue_length_max = 10;
  if (scheme == "fixed") options.time_limit = StrCat(lower, " upper_bound_ms: ", lower_bound_ms);
  if (scheme == "loss") options.time_limit = limits + kByLossAlone;
  if (scheme == "sert") options.time_limit = limits;
  return options;
}

struct Counts {
  double offered = 0;
  double answered = 0;
  double good = 0;
  double cut = 0;
  std::vector<double> latencies_ms;

  double GoodPercent() const { return 100 * good / std::max(offered, 1.0); }
  double CutPercent() const { return 100 * cut / std::max(offered, 1.0); }
  double LatencyMs(double share) {
    if (latencies_ms.empty()) return 0;
    std::sort(latencies_ms.begin(), latencies_ms.end());
    return latencies_ms[static_cast<size_t>(share * static_cast<double>(latencies_ms.size() - 1))];
  }
};

// Figures of the requests due in [begin, end).
Measurement Summary(const std::vector<tools::Measurement>& measurements, double begin_s,
                    double end_s) {
  Counts usual;
  Counts pathological;
  for (const tools::Measurement& one : DueIn(measurements, begin_s, end_s)) {
    Counts& counts = one.service_class == 0 ? usual : pathological;
    ++counts.offered;
    counts.answered += one.outcome == tools::Outcome::kAnswered;
    counts.good += IsGoodAnswer(one);
    counts.cut += one.terminated;
    counts.latencies_ms.push_back(static_cast<double>(one.latency_ns()) / 1e6);
  }
  return {{kGoodput, (usual.good + pathological.good) / (end_s - begin_s)},
          {"offered_per_s", (usual.offered + pathological.offered) / (end_s - begin_s)},
          {kGood, usual.GoodPercent()},
          {"usual_p50_ms", usual.LatencyMs(0.5)},
          {"usual_p99_ms", usual.LatencyMs(0.99)},
          {kCut, pathological.CutPercent()},
          {kPathologicalGood, pathological.GoodPercent()}};
}

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const double warm_up_s = context.Pick(0.2, 2.0, 2.0);
  NEPTUNE_ASSIGN_OR_RETURN(const SyntheticIndex* const index, SearchIndex(context));
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto search,
      SyntheticSearch::Start(*index, SchemeOf(point.Text("scheme"), context.Pick(2, 50, 50))));
  const double other_rate = context.Pick(0.5, kDemand, kDemand) * kSearchProcessors /
                            neptune::ToSeconds(index->pathological_cost());
  HttpLoadOptions load = SearchLoad(search->http_endpoint(), context);
  load.rate = kUsualRate + other_rate;
  load.length_s = context.Pick(0.8, 7.0, 22.0);
  load.queries = UsualQuestions();
  load.other_queries = PathologicalQuestions();
  load.other_share = other_rate / load.rate;
  NEPTUNE_ASSIGN_OR_RETURN(const auto measurements, RunHttpLoad(load));
  Measurement measured = Summary(measurements, warm_up_s, load.length_s);
  measured["usual_cost_ms"] = neptune::ToMillis(index->usual_cost());
  measured["pathological_cost_ms"] = neptune::ToMillis(index->pathological_cost());
  return measured;
}

void Judge(const Results& results, Judgement* judgement) {
  Point best = PointOf(kAdmission[0]);
  for (const char* scheme : kAdmission) {
    const Point point = PointOf(scheme);
    if (!results.Has(point)) continue;
    if (results.Mean(point, kGoodput).middle > results.Mean(best, kGoodput).middle) {
      best = point;
    }
  }
  const Point ours = PointOf("sert");
  judgement->AtLeast("complete answers within 1 s, relative to admission control", "",
                     results.MeanRatio(ours, best, kGoodput), 2, "x");
  judgement->AtLeast("pathological queries that are terminated early", "", results.Mean(ours, kCut),
                     50, "%");
  judgement
      ->AtMost("pathological queries answered in full within a third of their time", "",
               results.Mean(PointOf("fixed"), kPathologicalGood), 0, "%")
      .Shape();
  for (const Point& point : results.points()) {
    const std::string& scheme = point.Text("scheme");
    judgement->Shown(StrCat("goodput, ", scheme), "", results.Mean(point, kGoodput), "/s");
    judgement->Shown(StrCat("ordinary queries answered completely within 1 s, ", scheme), "",
                     results.Mean(point, kGood), "%");
    judgement->Shown(StrCat("their p50, ", scheme), "", results.Mean(point, "usual_p50_ms"), "ms");
    judgement->Shown(StrCat("their p99, ", scheme), "", results.Mean(point, "usual_p99_ms"), "ms");
    judgement->Shown(StrCat("pathological queries that are terminated early, ", scheme), "",
                     results.Mean(point, kCut), "%");
  }
  judgement->Shown("offered", "", results.Mean(ours, "offered_per_s"), "/s");
  judgement->Shown("a pathological query, alone", "", results.Mean(ours, "pathological_cost_ms"),
                   "ms of processor time");
  judgement->Shown("an ordinary query's search, alone", "", results.Mean(ours, "usual_cost_ms"),
                   "ms of processor time");
  judgement->Note(StrCat("Of the schemes without termination, ", best.Text("scheme"),
                         " gives the most complete answers."));
}

}  // namespace

Experiment SertSearch() {
  Experiment experiment = SearchExperiment();
  experiment.name = "sert_search";
  experiment.title = "Pathological queries beside ordinary ones";
  experiment.setup =
      "A search on loopback: a frontend and two nodes that hold two of four partitions each, "
      "with 80,000 synthetic documents, one worker thread per node and no cache. 100 ordinary "
      "queries per second, and as many pathological ones (hundreds of phrases of the most common "
      "words) as would need 1.5 times both processors. A tier's time limit is half a second, as "
      "usual. none: a queue of 40; queue N: a shorter one; fixed: every search may take 50 ms "
      "per partition; loss: 50 to 500 ms by the paper's controller; sert: ours. An answer counts "
      "if it is complete (from all partitions and not terminated early) and arrives within a "
      "second; so a pathological query that is terminated early does not count.";
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
