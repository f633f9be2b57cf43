// Three of eight nodes lose power and recover one after another.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/replication/replica_discussion.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr int kNodes = 8;
constexpr int kDegree = 4;
constexpr double kWriteShare = 0.1;
constexpr int kFailingCount = 3;
constexpr char kSafe[] = "safe";
constexpr char kFailStop[] = "fail_stop";
// The maximum share of failed requests in a normal second.
constexpr double kFailedShareMax = 0.02;

constexpr char kMode[] = "mode";
constexpr char kLoad[] = "load";
// A load that five nodes can also serve.
constexpr double kLightLoad = 0.5;
constexpr double kHeavyLoad = 0.75;

struct Timeline {
  int fail_s;
  int back_s[3];
  int end_s;
  // When what begins with this recovery ends.
  int Next(size_t recovery) const { return recovery == 2 ? end_s : back_s[recovery + 1]; }
};

Timeline TimelineOf(Length length) {
  if (length == Length::kSmoke) return {2, {4, 7, 10}, 14};
  if (length == Length::kQuick) return {8, {14, 22, 30}, 38};
  return {50, {80, 110, 140}, 200};
}

Point PointOf(const std::string& mode, double load) {
  return Point{{kMode, mode}}.Set(kLoad, load);
}

std::vector<Point> Points(Length length) {
  if (length == Length::kSmoke) return {PointOf(kSafe, 0.15)};
  return {PointOf(kFailStop, kLightLoad), PointOf(kFailStop, kHeavyLoad),
          PointOf(kSafe, kLightLoad), PointOf(kSafe, kHeavyLoad)};
}

// Three neighbours, so that some partitions have one replica left; with partitions that need a
// majority, at most two of any four neighbours.
std::vector<std::string> FailingOf(const Point& point) {
  if (point.Text(kMode) == kFailStop) return {"s0", "s1", "s2"};
  return {"s0", "s3", "s6"};
}

void PlanFaults(const Timeline& timeline, const std::vector<std::string>& failing,
                ReplicaCluster& cluster) {
  neptune::Simulator& simulator = cluster.simulator();
  const neptune::TimePoint began = simulator.now();
  for (size_t i = 0; i < failing.size(); ++i) {
    simulator.At(began + std::chrono::seconds(timeline.fail_s),
                 [&simulator, node = failing[i]] { simulator.Crash(node); });
    simulator.At(began + std::chrono::seconds(timeline.back_s[i]),
                 [&simulator, node = failing[i]] { simulator.Restart(node); });
  }
}

std::string AnsweredAt(int second) { return StrCat("answered_per_s_", second); }
std::string FailedAt(int second) { return StrCat("failed_per_s_", second); }

// Requests by the second of their arrival.
void CountSeconds(const ReplicaRunResult& result, int end_s, Measurement* measurement) {
  for (int second = 0; second < end_s; ++second) {
    (*measurement)[AnsweredAt(second)] = 0;
    (*measurement)[FailedAt(second)] = 0;
  }
  for (const ReplicaOutcome& one : result.outcomes) {
    const int second = static_cast<int>(neptune::ToSeconds(one.arrived));
    ++(*measurement)[one.answered() ? AnsweredAt(second) : FailedAt(second)];
  }
}

// The time from a recovery to the end of the last second with too many failures.
double SettledAfter(const Measurement& measurement, int back_s, int next_s) {
  double settled = 0;
  for (int second = back_s; second < next_s; ++second) {
    const double failed = measurement.at(FailedAt(second));
    if (failed > kFailedShareMax * (failed + measurement.at(AnsweredAt(second)))) {
      settled = second + 1 - back_s;
    }
  }
  return settled;
}

double LongestWriteMs(const ReplicaRunResult& result) {
  double longest = 0;
  for (const ReplicaOutcome& one : result.outcomes) {
    if (one.is_write) longest = std::max(longest, neptune::ToMillis(one.response));
  }
  return longest;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const Timeline timeline = TimelineOf(context.length);
  const DiscussionLoad users_load{
      .server_count = kNodes, .write_share = kWriteShare, .partition_shares = {}};
  ReplicaClusterOptions options = DiscussionCluster(kNodes, kDegree, "staleness_bounded");
  options.seed = context.seed;
  options.mode = point.Text(kMode);
  options.with_witness = options.mode == kSafe;
  ReplicaCluster cluster(options);
  DiscussionUsers users(users_load);
  ReplicaLoadOptions load;
  load.rate_per_s = point.Number(kLoad) * DiscussionIdealRate(users_load, kDegree);
  load.warm_up = neptune::Duration(0);
  load.duration = std::chrono::seconds(timeline.end_s);
  load.next = [&](ReplicaUser&, neptune::RandomSource& random) { return users.Next(random); };
  PlanFaults(timeline, FailingOf(point), cluster);
  const ReplicaRunResult result = RunReplicas(cluster, load, context.seed);
  const DiscussionDamage damage = CheckDiscussion(cluster, users);
  Measurement measurement{{"lost_count", static_cast<double>(damage.lost_count)},
                          {"doubled_count", static_cast<double>(damage.doubled_count)},
                          {"regression_count", static_cast<double>(result.regression_count)},
                          {"acknowledged_count", static_cast<double>(users.added().size())},
                          {"failed_percent", 100 * (1 - result.InTimeShare())},
                          {"write_ms_max", LongestWriteMs(result)}};
  CountSeconds(result, timeline.end_s, &measurement);
  for (size_t i = 0; i < static_cast<size_t>(kFailingCount); ++i) {
    measurement[StrCat("settled_s_", i)] =
        SettledAfter(measurement, timeline.back_s[i], timeline.Next(i));
  }
  return measurement;
}

void JudgePoint(const Results& results, const Point& point, Judgement* judgement) {
  const std::string at = StrCat(" at ", 100 * point.Number(kLoad), " % load, ", point.Text(kMode));
  judgement->Shown(StrCat("acknowledged writes", at), "",
                   results.Mean(point, "acknowledged_count"));
  judgement
      ->AtMost(StrCat("of these, lost", at), "no claim", results.Largest(point, "lost_count"), 0)
      .Shape();
  judgement
      ->AtMost(StrCat("of these, executed twice", at), "", results.Largest(point, "doubled_count"),
               0)
      .Shape();
  judgement
      ->AtMost(StrCat("answers older than what the session had already read", at), "",
               results.Largest(point, "regression_count"), 0)
      .Shape();
  const Estimate longest = results.Mean(point, "write_ms_max");
  if (point.Text(kMode) == kSafe) {
    Row& row = judgement->AtMost(StrCat("longest write", at), "", longest, 1000, "ms").Shape();
    if (point.Number(kLoad) == kHeavyLoad) {
      row.ShortOfLine(
          "five nodes are overloaded, and an election, which takes up to 0.8 s, precedes the "
          "write");
    }
  } else {
    judgement->Shown(StrCat("longest write", at), "", longest, "ms");
  }
  judgement->Shown(StrCat("failed calls in total", at), "", results.Mean(point, "failed_percent"),
                   "%");
  for (size_t i = 0; i < static_cast<size_t>(kFailingCount); ++i) {
    const std::string what = StrCat("back to normal after recovery ", i + 1, at);
    const Estimate settled = results.Mean(point, StrCat("settled_s_", i));
    if (point.Number(kLoad) == kHeavyLoad && i < 2) {
      judgement->Shown(what, "", settled, "s");
    } else {
      judgement->AtMost(what, "\"quickly stabilizes\"", settled, 3, "s").Shape();
    }
  }
}

plot::Plot Figure(const Results& results, const Point& point) {
  const Timeline timeline = TimelineOf(results.length());
  plot::Plot figure{
      .name = StrCat("recovery_", point.Text(kMode), "_", std::lround(100 * point.Number(kLoad))),
      .title = StrCat("Three of eight nodes fail, ", 100 * point.Number(kLoad), " % load, ",
                      point.Text(kMode), " (figure 5.4)"),
      .x = {.label = "second"},
      .y = {.label = "requests per second", .low = 0}};
  plot::Series answered{.name = "answered", .dots = {}};
  plot::Series failed{.name = "failed", .dots = {}};
  for (int second = 0; second < timeline.end_s; ++second) {
    const Estimate ok = results.Mean(point, AnsweredAt(second));
    const Estimate bad = results.Mean(point, FailedAt(second));
    answered.dots.push_back({static_cast<double>(second), ok.middle, ok.low, ok.high});
    failed.dots.push_back({static_cast<double>(second), bad.middle, bad.low, bad.high});
  }
  figure.series = {std::move(answered), std::move(failed)};
  return figure;
}

void Judge(const Results& results, Judgement* judgement) {
  for (const Point& point : results.points()) {
    JudgePoint(results, point, judgement);
    judgement->AddPlot(Figure(results, point));
  }
  judgement->Note(
      "With fail_stop the failing nodes are neighbours, and some partitions continue with one "
      "replica of four. With safe a majority backs every write: four replicas and a witness "
      "tolerate the loss of two, and the three nodes are chosen so that no partition loses more.");
}

}  // namespace

Experiment ReplRecovery() {
  Experiment experiment;
  experiment.name = "repl_recovery";
  experiment.title = "Replicated services while nodes fail and recover";
  experiment.source = "[Shen02] 5.4.3, figure 5.4";
  experiment.setup =
      "The discussion group of repl_scaling on 8 nodes with degree 4 and 10 % writes, in mode "
      "fail_stop, and in mode safe with a witness. The level is staleness_bounded, 1 s, where "
      "the paper uses level two: only the former promises a session that it reads no older "
      "version than before. Three nodes lose power at 50 s, together with the data that was not "
      "synced, and restart at 80, 110 and 140 s. Load is relative to the capacity of eight "
      "nodes: 75 % exceeds the capacity of five of them, and of six. At the end every group is "
      "read and compared with the acknowledged writes.";
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
