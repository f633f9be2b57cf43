// Replicated registers under random faults: no acknowledged write may be lost, no session may read
// older data.

#include <glog/logging.h>

#include <set>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/replication/replication_chaos.h"

namespace search::lab {
namespace {

using neptune::Fault;
using neptune::StrCat;
using std::chrono::seconds;

// With fewer histories a kind may not have been drawn.
constexpr double kHistoriesForEveryKind = 200;

// Seeds per run of the experiment, so that thousands of seeds need few runs.
int SeedsOf(const RunContext& context) { return context.Pick(2, 2, 100); }

std::string BegunOf(const std::string& kind) { return "begun_" + kind; }
std::string EffectiveOf(const std::string& kind) { return "effective_" + kind; }

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  Measurement measurement;
  for (int i = 0; i < SeedsOf(context); ++i) {
    ReplicationChaosOptions options;
    options.seed = context.seed * 1000 + static_cast<uint64_t>(i);
    options.replica_count = static_cast<int>(point.Number("replicas"));
    options.level = point.Text("level");
    options.servers_down_max = options.replica_count;  // all of them at times
    options.faults = context.Pick<neptune::Duration>(seconds(6), seconds(20), seconds(20));
    ChooseFaults(&options);
    const ReplicationChaosResult result = RunReplicationChaos(options);
    LOG_IF(ERROR, !result.wrong.empty())
        << point.ToString() << ": " << result.wrong << "; the faults that it needs:\n"
        << neptune::ToString(Minimise(options, result.schedule));
    measurement["wrong"] += result.wrong.empty() ? 0 : 1;
    measurement["acknowledged"] += static_cast<double>(result.acknowledged_count);
    measurement["reads"] += static_cast<double>(result.read_count);
    measurement["unanswered"] += static_cast<double>(result.failed_count);
    measurement["primaries"] += static_cast<double>(result.primary_count);
    measurement["rests"] += static_cast<double>(result.rest_count);
    measurement["histories"] += 1;
    for (const auto& [kind, count] : result.faults) {
      const std::string name = TraitsOf(kind).name;
      measurement[BegunOf(name)] += static_cast<double>(count.begun);
      measurement[EffectiveOf(name)] += static_cast<double>(count.effective);
    }
  }
  return measurement;
}

double Total(const Results& results, const std::string& metric) {
  double total = 0;
  for (const Point& point : results.points()) {
    for (const Measurement& measurement : results.Of(point)) {
      const auto found = measurement.find(metric);
      total += found == measurement.end() ? 0 : found->second;
    }
  }
  return total;
}

Estimate Sum(const Results& results, const std::string& metric) {
  return Estimate::OfAll(Total(results, metric), results.run_count());
}

// How many faults of each kind were caused, and how many of them disturbed something.
void JudgeFaults(const Results& results, Judgement* judgement) {
  const bool has_many = Total(results, "histories") >= kHistoriesForEveryKind;
  double without_effect = 0;
  std::set<std::string> names;
  for (const Fault::Kind kind : ChaosKinds({})) names.insert(TraitsOf(kind).name);
  for (const std::string& name : names) {
    const double effective = Total(results, EffectiveOf(name));
    without_effect += effective == 0 ? 1 : 0;
    judgement->Holds(StrCat("faults of kind ", name, " that disturbed something"), "",
                     StrCat(effective, " of ", Total(results, BegunOf(name))), "", true);
  }
  if (has_many) {
    judgement
        ->AtMost("kinds of faults that never disturbed anything", "",
                 Estimate::OfAll(without_effect, results.run_count()), 0)
        .Shape();
  }
}

void Judge(const Results& results, Judgement* judgement) {
  judgement
      ->AtMost(
          "histories with a lost or duplicated write, two write orders, a session that goes back "
          "in time, a read that is staler than it states, or replicas that differ",
          "", Sum(results, "wrong"), 0)
      .Shape();
  judgement->Shown("histories", "", Sum(results, "histories"));
  judgement->Shown("acknowledged writes", "", Sum(results, "acknowledged"));
  judgement->Shown("reads", "", Sum(results, "reads"));
  judgement->Shown("calls without an answer in 3 s", "", Sum(results, "unanswered"));
  judgement->Shown("primacies", "", Sum(results, "primaries"));
  judgement->Shown("partitions found at rest, in looks a second apart", "", Sum(results, "rests"));
  JudgeFaults(results, judgement);
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
      "and staleness are not checked. For 20 s servers have faults, in every other history of "
      "one kind alone, otherwise of all kinds mixed: they lose power together with the data that "
      "was not synced, also in the middle of a sync, lose their process, hang for longer than a "
      "lease, whole or one loop of them, are cut off in both directions or in one, lose "
      "messages, run slowly, and have their clocks set by up to an hour; their disks are slow, "
      "full or almost full, give read errors, and lose bits of logs and data, also of logs in use, "
      "which their scrub must find; they open no files; the capsules "
      "of their disk calls are full; requests of every size flood them. At times all of them are "
      "down. In a quarter of the histories logs are so small that members take snapshots under "
      "writes; in a third all disk calls share a small capsule; in half of them disks take time. "
      "In an eighth, of levels 2 and 3, nodes have 40 partitions, which rest while they are idle. "
      "What may damage stored data (bit flips, read errors, decay of logs) happens at levels 2 and "
      "3 only, and "
      "to no server before the one that was damaged last has everything again. Then the faults "
      "end, damage must be healed, and everything is compared.";
  experiment.seeds = {.smoke = 1, .quick = 4, .full = 12};  // full: 10,800 histories
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
