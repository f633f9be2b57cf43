// How many partitions are lost to unresponsive servers: staged and uniform deadlines.

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/examples/micro/micro_aggregation.h"
#include "neptune/thread/user_thread.h"
#include "tools/lab/aggregation/aggregation_run.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::AggregationReport;
using neptune::StrCat;

constexpr int kServers = 32;  // a whole binomial tree
constexpr int kWarmUpCount = 60;
constexpr char kLost[] = "lost_partitions";
constexpr const char* kPaperPlacement = "small subtrees first";
constexpr const char* kPlacements[] = {kPaperPlacement, "anywhere"};
constexpr const char* kTimeouts[] = {"staged", "uniform"};
// The experiment does not wait for the end of its work.
constexpr double kUnresponsive = 1e6;

Point PointOf(const std::string& tree, const std::string& placement, const std::string& timeouts,
              int count) {
  return Point{{"tree", tree}, {"placement", placement}, {"timeouts", timeouts}}.Set("unresponsive",
                                                                                     count);
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const std::string tree : {"binomial", "lat"}) {
    for (const std::string placement : kPlacements) {
      if (tree == "lat" && placement == kPaperPlacement) continue;
      for (const std::string timeouts : kTimeouts) {
        for (const int count : {1, 2, 4, 8}) {
          if (length == Length::kSmoke && count != 2) continue;
          if (length == Length::kQuick && count != 1 && count != 4) continue;
          points.push_back(PointOf(tree, placement, timeouts, count));
        }
      }
    }
  }
  return points;
}

// The cluster and the calls of one run. Two runs with one seed form the same trees until their
// calls differ.
class LossRun {
 public:
  LossRun(const Point& point, uint64_t seed)
      : timeouts_(*neptune::ParseTimeoutPolicy(point.Text("timeouts"))),
        scheme_(*neptune::ParseTreeScheme(point.Text("tree"))),
        seed_(seed),
        cluster_({.seed = seed, .server_count = kServers, .client_count = 1}) {
    for (int i = 0; i < kWarmUpCount; ++i) Call();
  }

  AggregationReport Call() {
    AggregationReport report;
    bool done = false;
    cluster_.client(0).RunOnControl([&] {
      neptune::ClientSession session(cluster_.client(0).client());
      neptune::AggregationRequest request = neptune::examples::MicroAggregation(
          neptune::ServiceName("micro"), kServers,
          MicroProfile().RequestFor(seed_ * 1'000'000'007 + call_count_++),
          neptune::this_thread::Now() + std::chrono::seconds(2));
      request.aggregation_quality_min = kAnyQuality;
      request.scheme = scheme_;
      request.timeouts = timeouts_;
      neptune::Data result;
      (void)neptune::Aggregate(session, request, &result, &report);
      done = true;
    });
    while (!done) cluster_.simulator().RunFor(std::chrono::milliseconds(10));
    return report;
  }

  void Stop(const std::vector<neptune::NodeId>& servers) {
    for (const neptune::NodeId& server : servers) {
      cluster_.simulator().SlowProcessors(server.value(), kUnresponsive);
    }
  }
  neptune::RandomSource& random() { return cluster_.simulator().random(); }

 private:
  const neptune::TimeoutPolicy timeouts_;
  const neptune::TreeScheme scheme_;
  const uint64_t seed_;
  uint64_t call_count_ = 0;
  AggregationCluster cluster_;
};

// Leaves of the tree, from the root's smallest subtree to the largest.
std::vector<neptune::NodeId> LeavesBySubtree(const AggregationReport& report) {
  const size_t count = report.servers.size();
  std::vector<size_t> size(count, 1);
  std::vector<size_t> top(count, 0);  // the root's child above
  std::vector<bool> is_leaf(count, true);
  for (size_t i = 1; i < count; ++i) {
    const auto parent = static_cast<size_t>(report.servers[i].parent);
    is_leaf[parent] = false;
    top[i] = parent == 0 ? i : top[parent];
  }
  for (size_t i = count - 1; i > 0; --i)
    size[static_cast<size_t>(report.servers[i].parent)] += size[i];
  std::vector<size_t> leaves;
  for (size_t i = 1; i < count; ++i) {
    if (is_leaf[i]) leaves.push_back(i);
  }
  std::stable_sort(leaves.begin(), leaves.end(),
                   [&](size_t a, size_t b) { return size[top[a]] < size[top[b]]; });
  std::vector<neptune::NodeId> nodes;
  for (const size_t leaf : leaves) nodes.push_back(report.servers[leaf].node);
  return nodes;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const int calls = context.Pick(1, 3, 10);
  const auto count = static_cast<size_t>(point.Number("unresponsive"));
  double lost = 0;
  for (int call = 0; call < calls; ++call) {
    const uint64_t seed = context.seed * 1000 + static_cast<uint64_t>(call);
    // The tree of the next call is only known after the call.
    std::vector<neptune::NodeId> leaves = LeavesBySubtree(LossRun(point, seed).Call());
    LossRun run(point, seed);
    if (point.Text("placement") != kPaperPlacement) {
      neptune::RandomSource random(seed);
      std::shuffle(leaves.begin(), leaves.end(), random);
    }
    leaves.resize(std::min(count, leaves.size()));
    run.Stop(leaves);
    const AggregationReport report = run.Call();
    lost += static_cast<double>(kServers - static_cast<int>(report.contributing_partitions.size()));
  }
  return Measurement{{kLost, lost / calls}};
}

// The paper's figure for the uniform timeout.
double UniformLoss(double unresponsive) {
  const double power = std::ceil(std::log2(unresponsive));
  return std::min(std::exp2(power + 1) - 1, kServers - 1.0);
}

void Judge(const Results& results, Judgement* judgement) {
  plot::Plot figure{.name = "loss",
                    .title = "Partitions lost to unresponsive leaves, 32 servers",
                    .x = {.label = "unresponsive leaves", .low = 0},
                    .y = {.label = "partitions lost", .low = 0}};
  for (const std::string tree : {"binomial", "lat"}) {
    for (const std::string placement : kPlacements) {
      for (const std::string timeouts : kTimeouts) {
        plot::Series series{.name = StrCat(timeouts, ", ", tree, ", ", placement), .dots = {}};
        for (const double count : {1, 2, 4, 8}) {
          const Point point = PointOf(tree, placement, timeouts, static_cast<int>(count));
          if (!results.Has(point)) continue;
          const Estimate lost = results.Mean(point, kLost);
          const std::string what = StrCat("lost, ", count, " unresponsive, ", series.name);
          series.dots.push_back({count, lost.middle, lost.low, lost.high});
          if (timeouts == "staged") {
            judgement->Between(what, StrCat("exactly ", count), lost, count, count).Shape();
          } else {
            judgement->Shown(
                what, placement == kPaperPlacement ? NumberText(UniformLoss(count)) : "", lost);
          }
        }
        if (!series.dots.empty()) figure.series.push_back(std::move(series));
      }
    }
  }
  judgement->AddPlot(std::move(figure));
  judgement->Note(
      "min{2^(⌈log k⌉+1)-1, n-1}, the paper's figure for the uniform timeout, is the loss of a "
      "binomial tree if the k leaves are in the root's smallest subtrees; leaves elsewhere cost "
      "more.");
}

}  // namespace

Experiment DacLoss() {
  Experiment experiment;
  experiment.name = "dac_loss";
  experiment.title = "Partitions lost to unresponsive servers";
  experiment.source = "[Chu03] 4.4";
  experiment.setup =
      "One call of MICRO over 32 servers that have served 60 calls before, with a soft deadline "
      "of 2 s. The call is made twice: first to observe its tree, then with the same seed and "
      "with k of the tree's leaves so slow that their work never ends, although they are alive "
      "and accept their tasks. The leaves are those of the root's smallest subtrees, or randomly "
      "chosen ones.";
  experiment.seeds = {.smoke = 1, .quick = 4, .full = 10};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
