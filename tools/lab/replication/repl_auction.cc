// The scalability of the replicated auction, and whether any user sees a bid decrease.

#include <utility>

#include "tools/lab/engine/experiment.h"
#include "tools/lab/replication/replica_auction.h"
#include "tools/lab/replication/replica_growth.h"

namespace search::lab {
namespace {

// Share of the highest rate at which bids are checked.
constexpr double kWatchedLoad = 0.9;

struct Watched {
  ReplicaRunResult result;
  uint64_t decline_count = 0;
  uint64_t seen_again_count = 0;
};

Watched RunAt(const ReplicaClusterOptions& options, ReplicaLoadOptions load) {
  AuctionUsers users(options.server_count);
  load.next = [&](ReplicaUser& user, neptune::RandomSource& random) {
    return users.Next(user, random);
  };
  ReplicaCluster cluster(options);
  ReplicaRunResult result = RunReplicas(cluster, load, options.seed);
  return {std::move(result), users.decline_count(), users.seen_again_count()};
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  ReplicaClusterOptions options = AuctionHouseCluster(NodesOf(point), DegreeOf(point));
  options.seed = context.seed;
  ReplicaLoadOptions load;
  load.duration = GrowthDuration(point, context);
  const auto run = [&](double rate_per_s, double failed_share_max) {
    ReplicaLoadOptions at_rate = load;
    at_rate.rate_per_s = rate_per_s;
    at_rate.failed_share_max = failed_share_max;
    return RunAt(options, at_rate).result;
  };
  const double rate =
      HighestGrowthRate(run, AuctionHouseIdealRate(NodesOf(point), DegreeOf(point)), context);
  load.rate_per_s = kWatchedLoad * rate;
  const Watched watched = RunAt(options, load);
  return Measurement{{kGrowthRate, rate},
                     {"decline_count", static_cast<double>(watched.decline_count)},
                     {"seen_again_count", static_cast<double>(watched.seen_again_count)},
                     {"regression_count", static_cast<double>(watched.result.regression_count)}};
}

void JudgeSessions(const Results& results, Judgement* judgement) {
  double declined = 0;
  double regressed = 0;
  double seen_again = 0;
  for (const Point& point : results.points()) {
    const auto sum = [&](const char* metric) {
      double all = 0;
      for (const double value : results.Values(point, metric)) all += value;
      return all;
    };
    declined += sum("decline_count");
    regressed += sum("regression_count");
    seen_again += sum("seen_again_count");
  }
  judgement->Shown("answers with an item that the session had already read", "",
                   Estimate::OfAll(seen_again, results.run_count()));
  judgement
      ->AtMost("of these with a lower bid", "", Estimate::OfAll(declined, results.run_count()), 0)
      .Shape();
  judgement
      ->AtMost("answers older than what the session had already read", "",
               Estimate::OfAll(regressed, results.run_count()), 0)
      .Shape();
}

void Judge(const Results& results, Judgement* judgement) {
  JudgeGrowth(results, "figure 5.5", "less than that of the discussion group", judgement);
  JudgeSessions(results, judgement);
  judgement->AddPlot(GrowthFigure(results, "auction", "Auction, at most 1 s stale (figure 5.5)"));
}

}  // namespace

Experiment ReplAuction() {
  Experiment experiment;
  experiment.name = "repl_auction";
  experiment.title = "The replicated auction service";
  experiment.source = "[Shen02] 5.4.4, figure 5.5";
  experiment.setup =
      "The set-up of repl_scaling, with the auction of five methods at level staleness_bounded, "
      "1 s: 10 % bids, 3 % new items, 400 categories per node. A read takes 8 ms of processor "
      "time, a new item 6 ms and a bid 2 ms, exponentially distributed; the paper does not state "
      "its values. In half of the requests users return to the item that they viewed last. Bids "
      "are checked at 90 % of the highest rate.";
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = GrowthPoints;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
