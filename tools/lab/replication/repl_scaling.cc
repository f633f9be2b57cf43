// The scalability of a replicated service by degree of replication, share of writes and consistency
// level.

#include <algorithm>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/replication/replica_discussion.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr char kRate[] = "rate_per_s";
constexpr char kAnywhere[] = "write_anywhere";
constexpr char kOrdered[] = "ordered_writes";
constexpr char kBounded[] = "staleness_bounded";
constexpr char kNone[] = "none";

Point PointOf(int nodes, int degree, double write_percent, const std::string& level) {
  return Point{{"level", degree == 1 ? kNone : level}}
      .Set("nodes", nodes)
      .Set("degree", degree)
      .Set("writes_percent", write_percent);
}

std::vector<int> NodeCounts(Length length) {
  if (length == Length::kSmoke) return {2, 4};
  if (length == Length::kQuick) return {1, 2, 8};
  return {1, 2, 4, 8, 16};
}

std::vector<int> Degrees(Length length) {
  if (length == Length::kSmoke) return {2};
  if (length == Length::kQuick) return {1, 2, 4};
  return {1, 2, 3, 4};
}

std::vector<double> WritePercents(Length length) {
  if (length == Length::kSmoke) return {10};
  return {10, 50};
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const int nodes : NodeCounts(length)) {
    for (const int degree : Degrees(length)) {
      if (degree > nodes) continue;
      for (const double percent : WritePercents(length)) {
        points.push_back(PointOf(nodes, degree, percent, kOrdered));
        if (degree == 1) continue;
        points.push_back(PointOf(nodes, degree, percent, kAnywhere));
        points.push_back(PointOf(nodes, degree, percent, kBounded));
      }
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const int nodes = static_cast<int>(point.Number("nodes"));
  ReplicaClusterOptions cluster =
      DiscussionCluster(nodes, static_cast<int>(point.Number("degree")), point.Text("level"));
  cluster.seed = context.seed;
  // The same number of requests for few nodes as for many.
  const int length_s = context.Pick(2, 4, 10) * std::max(1, 8 / nodes);
  const DiscussionLoad load{.server_count = nodes,
                            .write_share = point.Number("writes_percent") / 100,
                            .partition_shares = {}};
  const double rate = HighestDiscussionRate(
      cluster, load, {.duration = std::chrono::seconds(length_s)}, context.Pick(2, 3, 4));
  return Measurement{{kRate, rate}};
}

// The rate per node, relative to that of the fewest nodes measured with this degree.
void JudgeLinear(const Results& results, Judgement* judgement) {
  for (const Point& least : results.points()) {
    const int degree = static_cast<int>(least.Number("degree"));
    if (least.Number("nodes") != (degree <= 2 ? 2 : 4)) continue;
    Estimate worst{.middle = 1e9, .low = 1e9, .high = 1e9};
    std::string at;
    for (const int nodes : NodeCounts(results.length())) {
      if (nodes <= least.Number("nodes")) continue;
      const Point more = least.With("nodes", nodes);
      if (!results.Has(more)) continue;
      const double factor = least.Number("nodes") / nodes;
      const Estimate ratio = Scaled(results.MeanRatio(more, least, kRate), factor);
      if (ratio.middle >= worst.middle) continue;
      worst = ratio;
      at = StrCat(nodes);
    }
    if (at.empty()) continue;
    judgement
        ->AtLeast(StrCat("relative to linear, worst at ", at, " nodes over ", least.Text("nodes"),
                         ": degree ", degree, ", ", least.Text("writes_percent"), " % writes, ",
                         least.Text("level")),
                  "steady", worst, 0.9, "x")
        .Shape();
  }
}

// "Levels within 5 %".
constexpr double kLevelsMargin = 0.05;

void JudgeLevels(const Results& results, Judgement* judgement) {
  for (const Point& ordered : results.points()) {
    if (ordered.Text("level") != kOrdered) continue;
    const Point anywhere = ordered.With("level", kAnywhere);
    const Point bounded = ordered.With("level", kBounded);
    const std::string where =
        StrCat(ordered.Text("nodes"), " nodes, degree ", ordered.Text("degree"), ", ",
               ordered.Text("writes_percent"), " % writes");
    judgement->Near(StrCat("level 3 relative to 2: ", where), "close",
                    results.MeanRatio(bounded, ordered, kRate), 1, kLevelsMargin, "x");
    judgement->Near(StrCat("level 1 relative to 2: ", where), "close",
                    results.MeanRatio(anywhere, ordered, kRate), 1, kLevelsMargin, "x");
    judgement->AtLeast(StrCat("level 3 relative to 1: ", where), "close",
                       results.MeanRatio(bounded, anywhere, kRate), 0.9, "x");
  }
}

void JudgeCost(const Results& results, Judgement* judgement) {
  for (const double percent : WritePercents(results.length())) {
    const Point one = PointOf(1, 1, percent, kNone);
    if (!results.Has(one)) continue;
    const double paper = percent == 10 ? 152 : 175;
    judgement->Between(StrCat("one node without replication, ", percent, " % writes"),
                       StrCat(paper, " per second"), results.Mean(one, kRate), 0.95 * paper,
                       1.05 * paper, " per second");
    const Point four = PointOf(8, 4, percent, kOrdered);
    if (!results.Has(four)) continue;
    judgement->Shown(StrCat("no replication relative to degree 4: 8 nodes, ", percent, " % writes"),
                     percent == 10 ? "" : "about 2",
                     results.MeanRatio(PointOf(8, 1, percent, kNone), four, kRate), "x");
  }
}

plot::Plot Figure(const Results& results, double percent, const std::string& level) {
  plot::Plot figure{.name = StrCat("scaling_", level, "_", percent),
                    .title = StrCat(level, ", ", percent, " % writes (figure 5.1)"),
                    .x = {.label = "nodes"},
                    .y = {.label = "requests per second", .low = 0}};
  for (const int degree : Degrees(results.length())) {
    plot::Series series{.name = degree == 1 ? "none" : StrCat("degree ", degree), .dots = {}};
    for (const int nodes : NodeCounts(results.length())) {
      const Point point = PointOf(nodes, degree, percent, level);
      if (!results.Has(point)) continue;
      const Estimate rate = results.Mean(point, kRate);
      series.dots.push_back({static_cast<double>(nodes), rate.middle, rate.low, rate.high});
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

void Judge(const Results& results, Judgement* judgement) {
  JudgeCost(results, judgement);
  JudgeLinear(results, judgement);
  JudgeLevels(results, judgement);
  for (const double percent : WritePercents(results.length())) {
    for (const std::string level : {kAnywhere, kOrdered, kBounded}) {
      judgement->AddPlot(Figure(results, percent, level));
    }
  }
  judgement->Note(
      "Writes of levels 2 and 3 are backed by a majority; the paper's are not. At level 1 the "
      "groups are those of tools/lab/replication/posts_module.h, at the same costs: messages "
      "with numbers in one order do not commute.");
}

}  // namespace

Experiment ReplScaling() {
  Experiment experiment;
  experiment.name = "repl_scaling";
  experiment.title = "Scalability of replicated services with the number of nodes";
  experiment.source = "[Shen02] 5.4.1, figure 5.1";
  experiment.setup =
      "Discussion groups, 400 per node, in 64 partitions that are spread evenly, in the "
      "simulated world; random polling of 3 for reads; one processor per node, which executes "
      "one read at a time. Processor times of a read (6.69 ms) and of a write (4.56 ms, on each "
      "replica) are exponentially distributed and fitted to the paper's single node without "
      "replication. Storage takes no time. Users send about one request per second each. The "
      "figure is the highest rate, found by bisection, at which 98 % of the requests are "
      "answered within 2 s.";
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
