// The gain of replication if some partitions receive many more requests than others.

#include <cmath>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/replication/replica_discussion.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr char kRate[] = "rate_per_s";
constexpr char kFactor[] = "imbalance";
constexpr char kAnywhere[] = "write_anywhere";
constexpr char kOrdered[] = "ordered_writes";
constexpr char kBounded[] = "staleness_bounded";
constexpr char kNone[] = "none";
constexpr int kNodes = 8;
constexpr int kDegree = 4;
constexpr double kWriteShare = 0.1;
constexpr double kBalanced = 1.0 / kReplicaPartitionCount;

// Partition shares 1 / rank^exponent, scaled to sum to 1.
std::vector<double> ZipfShares(double exponent) {
  std::vector<double> shares;
  double sum = 0;
  for (uint32_t rank = 1; rank <= kReplicaPartitionCount; ++rank) {
    shares.push_back(std::pow(rank, -exponent));
    sum += shares.back();
  }
  for (double& share : shares) share /= sum;
  return shares;
}

// Shares by Zipf's law, with the exponent that gives the first partition the factor.
std::vector<double> SharesWith(double factor) {
  if (factor >= 1) {
    std::vector<double> shares(kReplicaPartitionCount, 0);
    shares[0] = 1;
    return shares;
  }
  double low = 0;
  double high = 20;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (ZipfShares(middle)[0] < factor ? low : high) = middle;
  }
  return ZipfShares(low);
}

Point PointOf(double factor, int degree, const std::string& level) {
  return Point{{"level", level}}.Set("degree", degree).Set(kFactor, factor);
}

std::vector<double> Factors(Length length) {
  if (length == Length::kSmoke) return {1};
  if (length == Length::kQuick) return {kBalanced, 0.25, 1};
  return {kBalanced, 0.03125, 0.0625, 0.125, 0.25, 0.5, 1};
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const double factor : Factors(length)) {
    points.push_back(PointOf(factor, 1, kNone));
    if (length == Length::kFull) {
      points.push_back(PointOf(factor, 2, kOrdered));
      points.push_back(PointOf(factor, 3, kOrdered));
    }
    points.push_back(PointOf(factor, kDegree, kOrdered));
    points.push_back(PointOf(factor, kDegree, kBounded));
    points.push_back(PointOf(factor, kDegree, kAnywhere));
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  ReplicaClusterOptions cluster =
      DiscussionCluster(kNodes, static_cast<int>(point.Number("degree")), point.Text("level"));
  cluster.seed = context.seed;
  const DiscussionLoad load{.server_count = kNodes,
                            .write_share = kWriteShare,
                            .partition_shares = SharesWith(point.Number(kFactor))};
  // Under skewed load only few nodes work.
  const int length_s = context.Pick(2, 8, 20);
  const double rate = HighestDiscussionRate(
      cluster, load, {.duration = std::chrono::seconds(length_s)}, context.Pick(2, 4, 5));
  return Measurement{{kRate, rate}};
}

plot::Plot Figure(const Results& results) {
  plot::Plot figure{.name = "skew",
                    .title = "8 nodes, 10 % writes (figures 5.2 and 5.3)",
                    .x = {.label = "share of the most popular partition", .logarithmic = true},
                    .y = {.label = "requests per second", .low = 0}};
  for (const Point& first : results.points()) {
    if (first.Number(kFactor) != results.points().front().Number(kFactor)) continue;
    plot::Series series{
        .name = first.Number("degree") == 1
                    ? "none"
                    : StrCat("degree ", first.Text("degree"), ", ", first.Text("level")),
        .dots = {}};
    for (const double factor : Factors(results.length())) {
      const Estimate rate = results.Mean(first.With(kFactor, factor), kRate);
      series.dots.push_back({factor, rate.middle, rate.low, rate.high});
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

void Judge(const Results& results, Judgement* judgement) {
  judgement
      ->AtLeast("all requests for one partition: degree 4 relative to no replication", "almost 3",
                results.MeanRatio(PointOf(1, kDegree, kOrdered), PointOf(1, 1, kNone), kRate), 2.9,
                "x")
      .Shape();
  judgement->AtMost(
      "one partition: level 2 relative to level 3", "1.09",
      results.MeanRatio(PointOf(1, kDegree, kOrdered), PointOf(1, kDegree, kBounded), kRate), 1.09,
      "x");
  judgement->AtMost(
      "one partition: level 1 relative to level 2", "1.12",
      results.MeanRatio(PointOf(1, kDegree, kAnywhere), PointOf(1, kDegree, kOrdered), kRate), 1.12,
      "x");
  if (results.Has(PointOf(kBalanced, 1, kNone))) {
    judgement->Shown("even load: degree 4 relative to no replication", "below 1",
                     results.MeanRatio(PointOf(kBalanced, kDegree, kOrdered),
                                       PointOf(kBalanced, 1, kNone), kRate),
                     "x");
  }
  judgement->AddPlot(Figure(results));
  judgement->Note(
      "At level 1 the groups are those of tools/lab/replication/posts_module.h, at the same "
      "costs: messages with numbers in one order do not commute.");
}

}  // namespace

Experiment ReplSkew() {
  Experiment experiment;
  experiment.name = "repl_skew";
  experiment.title = "Replicated services under skewed load";
  experiment.source = "[Shen02] 5.4.2, figures 5.2 and 5.3";
  experiment.setup =
      "The set-up of repl_scaling with 8 nodes and 10 % writes; partitions are drawn from a Zipf "
      "distribution whose exponent gives the most popular one its share: 1/64 is even load, 1 "
      "means that all requests are for one partition.";
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
