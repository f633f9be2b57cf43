// A search of processes, one of which dies or hangs, under a replay at 0.7 of its capacity.

#include <algorithm>
#include <csignal>
#include <memory>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/search/search_processes.h"
#include "tools/lab/search/search_replay.h"
#include "tools/lab/workloads/search_load.h"
#include "tools/process/linked_hosts.h"

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using Measurements = std::vector<tools::Measurement>;

constexpr double kDemand = 0.7;
constexpr double kBackGoalS = 2;
// p99 has recovered when it is at most this multiple of the worst second before the fault.
constexpr double kBackRatio = 2;
// The time from the start of a node until it serves.
constexpr double kStartS = 0.5;

enum class Kind { kKill, kPause, kUnplug };

struct Fault {
  const char* name;
  Kind kind;
  std::vector<std::string> nodes;  // one of them by seed, or with `all` all of them
  bool all = false;
  bool in_quick = false;
  bool on_hosts = false;  // every process on its own; else all on loopback
};

const std::vector<Fault>& Faults() {
  static const std::vector<std::string> kStores = {"store-1", "store-2", "store-3", "store-4"};
  static const std::vector<Fault> kFaults = {
      {"none", Kind::kKill, {}},
      {"kill store", Kind::kKill, kStores, false, true},
      {"pause store", Kind::kPause, kStores, false, true},
      {"kill cache", Kind::kKill, {"cache-1", "cache-2"}, false, true},
      {"pause cache", Kind::kPause, {"cache-1", "cache-2"}},
      {"kill frontend", Kind::kKill, {"web-1", "web-2"}},
      {"pause frontend", Kind::kPause, {"web-1", "web-2"}, false, true},
      {"kill both replicas", Kind::kKill, {"store-1", "store-4"}, true},
      {"kill store, hosts", Kind::kKill, kStores, false, false, true},
      {"unplug store, hosts", Kind::kUnplug, kStores, false, true, true},
      {"unplug cache, hosts", Kind::kUnplug, {"cache-1", "cache-2"}, false, false, true},
      {"unplug frontend, hosts", Kind::kUnplug, {"web-1", "web-2"}, false, false, true},
  };
  return kFaults;
}

const Fault& FaultNamed(const std::string& name) {
  return *std::find_if(Faults().begin(), Faults().end(),
                       [&](const Fault& fault) { return fault.name == name; });
}

// Times of a run, in seconds.
struct Schedule {
  double steady = 0;  // what was left of the calibration is done, and the cache is warm
  double fault = 0;
  double undone = 0;
  double end = 0;
  double calibration = 0;  // before it all
};

Schedule ScheduleOf(const RunContext& context) {
  return context.Pick(Schedule{0.5, 0.8, 1.3, 1.8, 0.5}, Schedule{1.5, 4.5, 7.5, 10, 1},
                      Schedule{4, 16, 24, 32, 4});
}

// Whether linked hosts are permitted here.
const Status& Hosts() {
  static const Status kStatus = LinkedHosts::Make(1).status();
  return kStatus;
}

Point PointOf(const Fault& fault) { return Point{{"fault", fault.name}}; }

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const Fault& fault : Faults()) {
    const std::string name = fault.name;
    if (length == Length::kSmoke && name != "kill store") continue;
    if (length == Length::kQuick && !fault.in_quick) continue;
    if (fault.on_hosts && !Hosts().ok()) continue;
    points.push_back(PointOf(fault));
  }
  return points;
}

class FailoverRun {
 public:
  FailoverRun(const SyntheticIndex& index, const Fault& fault, const RunContext& context)
      : index_(index), fault_(fault), context_(context), schedule_(ScheduleOf(context)) {
    if (fault.all) victims_ = fault.nodes;
    if (!fault.all && !fault.nodes.empty()) {
      victims_ = {fault.nodes[context.seed % fault.nodes.size()]};
    }
  }

  StatusOr<Measurement> Run() {
    NEPTUNE_ASSIGN_OR_RETURN(
        search_, SearchProcesses::Start(
                     index_, {.service_classes = kSearchClasses, .on_hosts = fault_.on_hosts}));
    Measurement measured;
    SearchReplay replay(index_, *search_);
    NEPTUNE_ASSIGN_OR_RETURN(
        const double capacity,
        replay.SustainableRate({.length_s = schedule_.calibration,
                                .seed = 1000 * context_.seed,
                                .is_estimate = context_.length == Length::kSmoke}));
    NEPTUNE_ASSIGN_OR_RETURN(tools::ReplayPlan plan,
                             DemandingReplay(kDemand * capacity, schedule_.end, 2 * context_.seed));
    NEPTUNE_ASSIGN_OR_RETURN(const Measurements all,
                             replay.Run(std::move(plan), {{schedule_.fault, [this] { Begin(); }},
                                                          {schedule_.undone, [this] { Undo(); }}}));
    const Measurements measurements = DueIn(all, schedule_.steady, schedule_.end);
    NEPTUNE_RETURN_IF_ERROR(done_);
    measured["capacity_per_s"] = capacity;
    AddOutcomes(measurements, schedule_.end - schedule_.steady, &measured);
    AddLatencies(measurements, &measured);
    replay.AddFailureCauses(measurements, &measured);
    const Outage outage{
        .nodes = victims_, .begin_s = schedule_.fault, .end_s = schedule_.undone + kStartS};
    NEPTUNE_RETURN_IF_ERROR(replay.AddCoverage(measurements, outage, &measured));
    return measured;
  }

 private:
  void Begin() {
    for (const std::string& node : victims_) {
      if (fault_.kind == Kind::kKill) search_->Signal(node, SIGKILL);
      if (fault_.kind == Kind::kPause) search_->Signal(node, SIGSTOP);
      if (fault_.kind == Kind::kUnplug) done_.Update(search_->SetLink(node, false));
    }
  }
  void Undo() {
    for (const std::string& node : victims_) {
      if (fault_.kind == Kind::kKill) done_.Update(search_->StartAgain(node));
      if (fault_.kind == Kind::kPause) search_->Signal(node, SIGCONT);
      if (fault_.kind == Kind::kUnplug) done_.Update(search_->SetLink(node, true));
    }
  }

  void AddLatencies(const Measurements& all, Measurement* measured) const {
    const double before_s = LatencyQuantileS(DueIn(all, schedule_.steady, schedule_.fault), 0.99);
    double worst_s = 0;
    for (double second = schedule_.steady; second + 1 <= schedule_.fault; ++second) {
      worst_s = std::max(worst_s, LatencyQuantileS(DueIn(all, second, second + 1), 0.99));
    }
    (*measured)["p50_before_ms"] =
        1e3 * LatencyQuantileS(DueIn(all, schedule_.steady, schedule_.fault), 0.5);
    (*measured)["p99_before_ms"] = 1e3 * before_s;
    (*measured)["p99_worst_before_ms"] = 1e3 * worst_s;
    const auto part = [&](const char* name, double begin_s, double end_s) {
      const double rest_s = std::min(kBackGoalS, (end_s - begin_s) / 2);
      (*measured)[StrCat("p99_", name, "_ms")] =
          1e3 * LatencyQuantileS(DueIn(all, begin_s + rest_s, end_s), 0.99);
      (*measured)[StrCat("back_", name, "_s")] =
          BackAfterS(all, begin_s, end_s, kBackRatio * std::max(worst_s, before_s));
    };
    part("fault", schedule_.fault, schedule_.undone);
    part("return", schedule_.undone, schedule_.end);
  }

  // The time from which p99 is at most that; the whole time if it never is.
  static double BackAfterS(const Measurements& all, double begin_s, double end_s, double most_s) {
    constexpr double kStepS = 0.1;
    for (double after_s = 0; begin_s + after_s < end_s - kStepS; after_s += kStepS) {
      const Measurements rest = DueIn(all, begin_s + after_s, end_s);
      if (LatencyQuantileS(rest, 0.99) <= most_s) return after_s;
    }
    return end_s - begin_s;
  }

  const SyntheticIndex& index_;
  const Fault& fault_;
  const RunContext& context_;
  const Schedule schedule_;
  std::vector<std::string> victims_;
  std::unique_ptr<SearchProcesses> search_;
  Status done_;  // of what was done to nodes
};

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(const SyntheticIndex* const index, SearchIndex(context));
  return FailoverRun(*index, FaultNamed(point.Text("fault")), context).Run();
}

void JudgePoint(const Results& results, const Point& point, Judgement* judgement) {
  const std::string& fault = point.Text("fault");
  const auto mean = [&](const char* metric) { return results.Mean(point, metric); };
  JudgeAnswers(results, point, ", " + fault, 0.1, judgement);
  judgement->AtMost(StrCat("answers that lack a running partition, ", fault), "",
                    mean("unexplained_percent"), 0.1, "%");
  for (const char* when : {"fault", "return"}) {
    if (fault == "none" || FaultNamed(fault).all) break;
    judgement->AtMost(StrCat("p99 is back to normal after the ", when, ", ", fault), "",
                      results.Median(point, StrCat("back_", when, "_s")), kBackGoalS, "s");
  }
  judgement->Shown(StrCat("partial answers, ", fault), "", mean("partial_percent"), "%");
  judgement->Shown(StrCat("p99 before, ", fault), "", mean("p99_before_ms"), "ms");
  judgement->Shown(StrCat("p99 2 s after the fault and later, ", fault), "", mean("p99_fault_ms"),
                   "ms");
}

void Judge(const Results& results, Judgement* judgement) {
  for (const Point& point : results.points()) JudgePoint(results, point, judgement);
  if (!Hosts().ok())
    judgement->Note(StrCat("SKIPPED, every process on its own host: ", Hosts().ToString()));
  const Point& first = results.points()[0];
  judgement->Shown("capacity", "", results.Mean(first, "capacity_per_s"), "/s");
  judgement->Shown("offered", "", results.Mean(first, "offered_per_s"), "/s");
  judgement->Shown("answered by the cache", "", results.Mean(first, "hit_percent"), "%");
}

}  // namespace

Experiment SearchFailover() {
  Experiment experiment = SearchExperiment();
  experiment.name = "search_failover";
  experiment.title = "Failover of a search cluster whose processes die and hang";
  experiment.setup =
      "Eight processes on two processors: two frontends, two nodes with the query cache, and "
      "four with two of four partitions of the index and of the documents; every partition has "
      "two replicas. Queries take about two milliseconds in the index, 70 % of them repeat "
      "earlier ones, and the clients belong to three classes. They are sent at 0.7 of the "
      "highest rate that the search sustains in an open loop (no query fails and p99 is at most "
      "250 ms), bounded by the rate that would saturate both processors including the client's "
      "part. One process is killed, or suspended, at 16 s, and restarted, or resumed, at 24 of "
      "32 s; in one point both replicas of a partition are killed. Where the point says hosts, "
      "every process and the client run in network namespaces of their own, connected by one "
      "switch, with real multicast between them; an unplugged process continues to run, and no "
      "other process is informed. The client acts as a load balancer: it sends a query to the "
      "other frontend if the first one does not answer within a second. A query fails if it has "
      "no answer within 2 s. The coverage of an answer is correct if its results and its count "
      "are those of the partitions that it names, queried alone outside of the cluster; all "
      "partial answers and about 300 others are checked. p99 counts as back to normal from the "
      "first moment after which at most one query in a hundred takes longer than twice the p99 "
      "of the worst second before the fault.";
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
