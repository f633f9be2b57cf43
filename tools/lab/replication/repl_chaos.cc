// Replicated registers under random faults: no acknowledged write may be lost, no session may read
// older data.

#include <glog/logging.h>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/replication/replication_chaos.h"

namespace search::lab {
namespace {

using neptune::StrCat;

// Seeds per run of the experiment, so that thousands of seeds need few runs.
int SeedsOf(const RunContext& context) { return context.Pick(2, 5, 100); }

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  Measurement measurement;
  for (int i = 0; i < SeedsOf(context); ++i) {
    ReplicationChaosOptions options;
    options.seed = context.seed * 1000 + static_cast<uint64_t>(i);
    options.replica_count = static_cast<int>(point.Number("replicas"));
    options.level = point.Text("level");
    options.servers_down_max = options.replica_count;  // all of them at times
    const ReplicationChaosResult result = RunReplicationChaos(options);
    LOG_IF(ERROR, !result.wrong.empty())
        << point.ToString() << ": " << result.wrong << "; the faults that it needs:\n"
        << neptune::ToString(Minimise(options, result.schedule));
    measurement["wrong"] += result.wrong.empty() ? 0 : 1;
    measurement["acknowledged"] += static_cast<double>(result.acknowledged_count);
    measurement["reads"] += static_cast<double>(result.read_count);
    measurement["unanswered"] += static_cast<double>(result.failed_count);
    measurement["primaries"] += static_cast<double>(result.primary_count);
    measurement["histories"] += 1;
  }
  return measurement;
}

double Total(const Results& results, const std::string& metric) {
  double total = 0;
  for (const Point& point : results.points()) {
    for (const double value : results.Values(point, metric)) total += value;
  }
  return total;
}

Estimate Exactly(double value) { return {value, value, value, 1}; }

void Judge(const Results& results, Judgement* judgement) {
  judgement
      ->AtMost(
          "histories with a lost or duplicated write, two write orders, a session that goes back "
          "in time, a read that is staler than it states, or replicas that differ",
          "", Exactly(Total(results, "wrong")), 0)
      .Shape();
  judgement->Shown("histories", "", Exactly(Total(results, "histories")));
  judgement->Shown("acknowledged writes", "", Exactly(Total(results, "acknowledged")));
  judgement->Shown("reads", "", Exactly(Total(results, "reads")));
  judgement->Shown("calls without an answer in 3 s", "", Exactly(Total(results, "unanswered")));
  judgement->Shown("primacies", "", Exactly(Total(results, "primaries")));
  judgement->Note(
      "Planted bugs are tested where they can be planted without a change to the product: "
      "neptune/replication/protocol/safe/safe_replica_test.cc has 20 of them and finds all; "
      "commutative_replica_test.cc has seven of level 1.");
}

}  // namespace

Experiment ReplChaos() {
  Experiment experiment;
  experiment.name = "repl_chaos";
  experiment.title = "Replicated registers under random faults";
  experiment.source = "bounds of this system";
  experiment.setup =
      "Clusters of three, four (with a witness) and five whole nodes, each with replicas of both "
      "partitions, and two client nodes with three sessions each, which append to and read eight "
      "registers. At level 1 they insert, which commutes; then there is no witness, and order "
      "and staleness are not checked. For 20 s servers lose power together with the data that "
      "was not synced, lose their process, hang for longer than a lease, are cut off in both "
      "directions or in one, lose messages, run slowly, and have their clocks set by up to an "
      "hour; at times all of them are down. Then the faults end, and everything is compared.";
  experiment.seeds = {.smoke = 1, .quick = 10, .full = 50};
  experiment.points = [](Length length) {
    std::vector<Point> points;
    for (const int replicas : {3, 4, 5}) {
      for (const char* level : {"write_anywhere", "ordered_writes", "staleness_bounded"}) {
        if (length == Length::kSmoke && replicas == 5) continue;
        points.push_back(Point().Set("replicas", replicas).Set("level", level));
      }
    }
    return points;
  };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
