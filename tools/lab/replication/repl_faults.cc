// Replicated registers on real processes with one fault at a time: what users see of it.

#include <algorithm>
#include <cmath>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/replication/fault_cases.h"

namespace search::lab {
namespace {

using neptune::Fault;
using neptune::StrCat;

constexpr char kEtcdAbsent[] =
    "not measured: /usr/bin/etcd (Debian's etcd-server) or gRPC at build time is missing";

Point PointOf(const std::string& name, const std::string& detail = "-") {
  return Point{{"case", name}, {"detail", detail}};
}

double Largest(const Results& results, const Point& point, const std::string& metric) {
  const std::vector<double> values = results.Values(point, metric);
  return *std::max_element(values.begin(), values.end());
}

std::string Seconds(double seconds) {
  constexpr double kLongest = 1e5;
  return seconds > kLongest ? "never" : StrCat(std::round(seconds * 100) / 100, " s");
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points = {PointOf("quiet")};
  if (length == Length::kSmoke) {
    points.push_back(PointOf("single", "crash"));
    return points;
  }
  const bool is_full = length == Length::kFull;
  points.push_back(PointOf("before"));
  points.push_back(PointOf("etcd", "8"));
  points.push_back(PointOf("flood"));
  points.push_back(PointOf("slow_flush", "200"));
  points.push_back(PointOf("flip", "written"));
  if (is_full) {
    points.push_back(PointOf("etcd", "1"));
    points.push_back(PointOf("etcd", "64"));
    points.push_back(PointOf("slow_flush", "400"));
    points.push_back(PointOf("flip", "any"));
    points.push_back(PointOf("long"));
    points.push_back(PointOf("readers"));
    points.push_back(PointOf("snapshot"));
    points.push_back(PointOf("partitions"));
  }
  for (const Fault& fault : SingleFaults()) {
    if (is_full || fault.kind == Fault::Kind::kCrash || fault.kind == Fault::Kind::kHungLoop) {
      points.push_back(PointOf("single", fault.ToString()));
    }
  }
  return points;
}

neptune::StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  return RunFaultCase(context, point.Text("case"), point.Text("detail"));
}

void JudgeQuiet(const Results& results, Judgement* judgement) {
  const Point quiet = PointOf("quiet");
  judgement
      ->AtLeast("quiet: acknowledged writes in a run", "", results.Largest(quiet, "acknowledged"),
                1)
      .Shape();
  judgement->Shown("quiet: writes a second", "", results.Median(quiet, "writes_per_s"));
  judgement->Shown("quiet: p50", "", results.Median(quiet, "p50_ms"), "ms");
  judgement->Shown("quiet: p99", "", results.Median(quiet, "p99_ms"), "ms");
  const Point before = PointOf("before");
  if (!results.Has(before)) return;
  if (Largest(results, before, "is_measured") == 0) {
    const std::string why = StrCat("not measured: ", kBeforeVariable, " names no program");
    judgement->Holds("quiet: against the state before, writes a second", "", why, "≥ 2 x", false);
    judgement->Holds("quiet: against the state before, p50", "", why, "≤ 0.6 x", false);
    return;
  }
  judgement->AtLeast("quiet: against the state before, writes a second", "",
                     results.MedianRatio(quiet, before, "writes_per_s"), 2, "x");
  judgement->AtMost("quiet: against the state before, p50", "",
                    results.MedianRatio(quiet, before, "p50_ms"), 0.6, "x");
}

// etcd's best point for the metric; `sign` is 1 if larger is better, else -1.
Point BestEtcd(const Results& results, const std::string& metric, double sign) {
  Point best = PointOf("etcd", "8");
  for (const char* connections : {"1", "64"}) {
    const Point point = PointOf("etcd", connections);
    if (!results.Has(point)) continue;
    if (sign * results.Median(point, metric).middle > sign * results.Median(best, metric).middle) {
      best = point;
    }
  }
  return best;
}

void JudgeEtcd(const Results& results, Judgement* judgement) {
  const Point quiet = PointOf("quiet");
  const Point any = PointOf("etcd", "8");
  if (!results.Has(any)) return;
  const std::string writes = "etcd: our writes a processor-second over its";
  const std::string p99 = "etcd: our p99 over its";
  if (Largest(results, any, "is_measured") == 0) {
    judgement->Holds(writes, "", kEtcdAbsent, "≥ 1 x", false);
    judgement->Holds(p99, "", kEtcdAbsent, "≤ 1 x", false);
    return;
  }
  const Point cheap = BestEtcd(results, "writes_per_processor_s", 1);
  const Point fast = BestEtcd(results, "p99_ms", -1);
  judgement->AtLeast(writes, "", results.MedianRatio(quiet, cheap, "writes_per_processor_s"), 1,
                     "x");
  judgement->AtMost(p99, "", results.MedianRatio(quiet, fast, "p99_ms"), 1, "x");
  judgement->Shown("etcd: writes a processor-second", "",
                   results.Median(cheap, "writes_per_processor_s"));
  judgement->Shown("etcd: p99", "", results.Median(fast, "p99_ms"), "ms");
  judgement->Shown("etcd: writes a second", "",
                   results.Median(BestEtcd(results, "writes_per_s", 1), "writes_per_s"));
}

void JudgeLoads(const Results& results, Judgement* judgement) {
  if (const Point flood = PointOf("flood"); results.Has(flood)) {
    judgement->AtLeast("flood on every node: writes over their share of quiet", "",
                       results.Median(flood, "of_share_ratio"), 0.25, "x");
    judgement->AtMost("flood on every node: changes of primary", "",
                      results.Largest(flood, "primary_change_count"), 0);
    judgement->Shown("flood on every node: answers a second", "",
                     results.Median(flood, "answers_per_s"));
  }
  if (const Point one = PointOf("long"); results.Has(one)) {
    judgement->AtMost("one 300 ms request at a time: p99 of writes over quiet", "",
                      results.Median(one, "write_ratio"), 2, "x");
    judgement->AtMost("one 300 ms request at a time: p99 of 1 ms requests over quiet", "",
                      results.Median(one, "request_ratio"), 2, "x");
  }
  for (const char* delay : {"200", "400"}) {
    const Point slow = PointOf("slow_flush", delay);
    if (!results.Has(slow)) continue;
    const std::string what = StrCat("flushes +", delay, " ms: ");
    judgement->AtMost(what + "log entries an acknowledged write", "",
                      results.Median(slow, "entries_per_write"), 1.05);
    judgement->AtMost(what + "p50 in flushes", "", results.Median(slow, "p50_flushes"), 2.5);
    judgement->AtMost(what + "changes of primary", "",
                      results.Largest(slow, "primary_change_count"), 0);
  }
}

void JudgeSizes(const Results& results, Judgement* judgement) {
  if (const Point readers = PointOf("readers"); results.Has(readers)) {
    const std::string what = "64 readers of 60 MiB that stop: resident over the budget";
    if (Largest(results, readers, "budget_mib") == 0) {
      judgement->Holds(what, "",
                       StrCat("no budget; ", std::round(Largest(results, readers, "resident_mib")),
                              " MiB resident"),
                       "≤ 1.1 x", false);
    } else {
      judgement->AtMost(what, "", results.Median(readers, "of_budget_ratio"), 1.1, "x");
    }
    judgement->AtMost("64 readers of 60 MiB that stop: longest time without a write", "",
                      results.Largest(readers, "write_gap_s"), 3, "s");
  }
  if (const Point snapshot = PointOf("snapshot"); results.Has(snapshot)) {
    const std::string what =
        StrCat("snapshot of ", Largest(results, snapshot, "data_mib"), " MiB under writes: ");
    judgement->Holds(what + "ends", "", Seconds(Largest(results, snapshot, "snapshot_s")), "ends",
                     Seconds(Largest(results, snapshot, "snapshot_s")) != "never");
    judgement->AtMost(what + "growth of resident memory", "",
                      results.Median(snapshot, "growth_mib"), 256, "MiB");
    judgement->AtMost(what + "snapshots", "", results.Largest(snapshot, "snapshot_count"), 1);
    judgement->AtMost(what + "log over its cap", "", results.Median(snapshot, "of_log_cap_ratio"),
                      1.2, "x");
  }
  if (const Point many = PointOf("partitions"); results.Has(many)) {
    judgement->AtMost("1,000 partitions a node: start", "", results.Median(many, "start_s"), 10,
                      "s");
    judgement->AtMost("1,000 partitions a node: start with data in all of them", "",
                      results.Median(many, "restart_s"), 10, "s");
    judgement->AtMost("1,000 partitions a node: idle, of a processor", "",
                      results.Median(many, "idle_percent"), 1, "%");
  }
}

void JudgeFlips(const Results& results, Judgement* judgement) {
  for (const char* place : {"written", "any"}) {
    const Point flip = PointOf("flip", place);
    if (!results.Has(flip)) continue;
    const std::string what = StrCat("a flipped bit (", place, ") and a node down: ");
    judgement->AtMost(what + "acknowledged writes lost or doubled", "",
                      results.Largest(flip, "wrong_count"), 0);
    judgement->AtMost(what + "acknowledged writes that cannot be read", "",
                      results.Largest(flip, "unreadable_count"), 0);
    judgement->AtMost(what + "writes again after a majority is back", "",
                      results.Largest(flip, "again_s"), 30, "s");
    judgement->AtMost(what + "every replica serves by itself", "", results.Largest(flip, "heal_s"),
                      30, "s");
    const Estimate reported = results.Mean(flip, "reported");
    if (std::string(place) == "written") {
      judgement->AtLeast(what + "runs that report the damage", "", reported, 1);
    } else {  // the bit may be one that no reader needs
      judgement->Shown(what + "runs that report the damage", "", reported);
    }
  }
}

// One row a fault: nothing wrong, a write within 3 s, other services within 3 s, every replica
// serves again by itself.
void JudgeSingles(const Results& results, Judgement* judgement) {
  constexpr double kGapMaxS = 3;
  constexpr double kHealMaxS = 30;
  for (const Fault& fault : SingleFaults()) {
    const Point point = PointOf("single", fault.ToString());
    if (!results.Has(point)) continue;
    const auto largest = [&](const char* metric) { return Largest(results, point, metric); };
    const double wrong = largest("wrong_count") + largest("unreadable_count");
    const double write_gap_s = largest("write_gap_s");
    const double rest_gap_s = largest("rest_gap_s");
    const double heal_s = largest("heal_s");
    const std::vector<double> answers = results.Values(point, "new_client_answers");
    const bool takes_new = *std::min_element(answers.begin(), answers.end()) > 0;
    const bool holds = wrong == 0 && takes_new && write_gap_s <= kGapMaxS &&
                       rest_gap_s <= kGapMaxS && heal_s <= kHealMaxS;
    judgement->Holds(StrCat("on the primary's node: ", fault.ToString()), "",
                     StrCat(wrong == 0 ? "nothing wrong" : "wrong or unreadable", ", write after ",
                            Seconds(write_gap_s), ", other service after ", Seconds(rest_gap_s),
                            takes_new ? "" : ", no answer to new clients", ", all replicas after ",
                            Seconds(heal_s)),
                     "nothing wrong, ≤ 3 s, ≤ 3 s, by itself", holds);
    if (results.length() != Length::kSmoke) continue;
    judgement
        ->Holds(StrCat("instrument: ", fault.ToString(), " runs, and its history is checked"), "",
                StrCat(largest("acknowledged"), " writes"), "≥ 1 write, nothing wrong",
                wrong == 0 && largest("acknowledged") >= 1)
        .Shape();
  }
}

void Judge(const Results& results, Judgement* judgement) {
  JudgeQuiet(results, judgement);
  JudgeEtcd(results, judgement);
  JudgeLoads(results, judgement);
  JudgeSizes(results, judgement);
  JudgeFlips(results, judgement);
  JudgeSingles(results, judgement);
  judgement->Note(
      "Processor time is that of the nodes or members alone; clients are processes or threads of "
      "their own. A case that could not be measured holds no line.");
  judgement->Note(
      "The share of a flood: what the processes that flood leave of the machine's processors.");
}

}  // namespace

Experiment ReplFaults() {
  Experiment experiment;
  experiment.name = "repl_faults";
  experiment.title = "Replicated registers on real processes with one fault at a time";
  experiment.source = "bounds of this system";
  experiment.setup =
      "Three processes of neptuned on loopback with a replica each of one partition of registers, "
      "on the machine's disk. Loads: 64 writers of 100 bytes, each with one call at a time (8 "
      "beside slow disks and long requests), or six sessions whose history is checked. Faults "
      "are those of tools/chaos, on the node of the primary, for 5 s: the processes' file calls go "
      "through a preloaded library only where a case needs it. etcd: three members with its "
      "defaults, the same load over gRPC on the leader with 1, 8 and 64 connections, of which the "
      "best counts. The state before is the program that the environment variable "
      "REPL_FAULTS_BEFORE names. The full form needs 30 GB of disk for some minutes.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
