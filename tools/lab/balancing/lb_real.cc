// The policies on kernel threads and real sockets, compared with the simulated world.

#include <algorithm>

#include "neptune/base/strings.h"
#include "tools/lab/balancing/balancing_run.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr char kMean[] = "response_ms_mean";
constexpr char kTail[] = "response_ms_p99";
constexpr char kLoss[] = "loss_percent";
constexpr const char* kPolicies[] = {"random", "round_robin", "broadcast", "poll 3", "probe_pool"};

Point PointOf(const std::string& policy, const std::string& world) {
  return Point{{"policy", policy}, {"world", world}};
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const std::string policy : kPolicies) {
    if (length == Length::kSmoke && policy != "poll 3") continue;
    if (length == Length::kQuick && (policy == "round_robin" || policy == "broadcast")) continue;
    points.push_back(PointOf(policy, "real"));
    points.push_back(PointOf(policy, "sim"));
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  BalancingRun run;
  run.workload = workload::PoissonExp(50);
  run.world = point.Text("world") == "real" ? WorldKind::kReal : WorldKind::kSim;
  run.policy = point.Text("policy");
  run.warm_up_count = context.Pick<uint64_t>(100, 500, 1'000);
  run.count = context.Pick<uint64_t>(300, 2'000, 6'000);
  return MeasureBalancing(run, context.seed);
}

void Judge(const Results& results, Judgement* judgement) {
  const Point poll = PointOf("poll 3", "real");
  const Point random = PointOf("random", "real");
  const Point pool = PointOf("probe_pool", "real");
  // A random choice may find a full queue.
  double loss = results.Mean(poll, kLoss).middle;
  if (results.Has(pool)) loss = std::max(loss, results.Mean(pool, kLoss).middle);
  judgement
      ->Holds("calls lost by poll 3 and probe_pool", "", StrCat(NumberText(loss), " %"), "0 %",
              loss == 0)
      .Shape();
  if (results.Has(random)) {
    judgement->AtMost("poll 3 relative to random, mean", "", results.MeanRatio(poll, random, kMean),
                      0.5, "x");
    judgement->AtMost("probe_pool relative to poll 3, mean", "",
                      results.MeanRatio(pool, poll, kMean), 1.02, "x");
    judgement->AtMost("probe_pool relative to poll 3, p99", "",
                      results.MeanRatio(pool, poll, kTail), 1.02, "x");
  }
  for (const Point& point : results.points()) {
    if (point.Text("world") != "real") continue;
    const std::string& policy = point.Text("policy");
    judgement->Shown(StrCat("mean, ", policy), "", results.Mean(point, kMean), "ms");
    judgement->Shown(StrCat("over the simulated world's, ", policy), "",
                     results.MeanRatio(point, PointOf(policy, "sim"), kMean), "x");
  }
  judgement->Note(
      "Both worlds serve the same requests at the same times. In the real world processors are "
      "emulated, but sockets, threads and clocks are not, so the figures have little "
      "significance on a machine with other work.");
}

}  // namespace

Experiment LbReal() {
  Experiment experiment;
  experiment.name = "lb_real";
  experiment.title = "Balancing policies on real sockets";
  experiment.source = "bounds of this system";
  experiment.setup =
      "16 servers at 90 % utilization and 6 clients, each node with its own kernel threads, "
      "sockets and yellow page, on loopback. Poisson arrivals, exponential service times of 50 "
      "ms on emulated processors: a request sleeps while it holds its server's only processor. "
      "Polls are datagrams that are discarded after 10 ms.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
