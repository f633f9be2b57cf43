// Changes of a search of processes under a replay at 0.7 of its capacity without cache: an index
// tier gets another implementation, every process is restarted, a version of the index is published
// and rolled back.

#include <time.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/search/search_processes.h"
#include "tools/lab/search/search_replay.h"
#include "tools/lab/workloads/search_load.h"

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using Measurements = std::vector<tools::Measurement>;

// Smoke runs, which check only answers, run in parallel with other tests.
double DemandOf(const RunContext& context) { return context.Pick(0.05, 0.7, 0.7); }
constexpr char kCluster[] = "tools/cluster/cluster";
constexpr char kPublish[] = "tools/publish/publish";
constexpr char kOther[] = "rocksdb_postings";
constexpr double kRollbackGoalS = 5;

constexpr const char* kChanges[] = {"swap", "restart", "publish"};

struct Schedule {
  double steady = 0;
  double change = 0;
  double back = 0;  // publish: the version is taken back
  double end = 0;
  double calibration = 0;
};

Schedule ScheduleOf(const RunContext& context) {
  return context.Pick(Schedule{0.2, 0.3, 0.8, 1.3, 0.2}, Schedule{1, 2, 5, 8, 1.2},
                      Schedule{4, 8, 24, 40, 6});
}

size_t DocumentCount(const RunContext& context) {
  return context.Pick<size_t>(1'000, 10'000, 80'000);
}

double MonotonicS() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The index with both implementations of the tier, and a smaller index as the next version. Both
// are kept until the program ends.
struct Indexes {
  std::unique_ptr<SyntheticIndex> first;
  std::unique_ptr<SyntheticIndex> second;
};

StatusOr<const Indexes*> IndexesOf(size_t document_count) {
  static std::map<size_t, Indexes> built;
  Indexes& indexes = built[document_count];
  if (indexes.second != nullptr) return &indexes;
  NEPTUNE_ASSIGN_OR_RETURN(indexes.first, SyntheticIndex::Build(document_count));
  NEPTUNE_RETURN_IF_ERROR(indexes.first->AddTier(kOther));
  NEPTUNE_ASSIGN_OR_RETURN(indexes.second, SyntheticIndex::Build(document_count * 9 / 10));
  return &indexes;
}

// Timed commands to a cluster during the load.
class Commands {
 public:
  explicit Commands(const SearchProcesses& search) : search_(search) {}
  ~Commands() { Join(); }

  // Executes the command after all earlier ones.
  void Give(const std::string& tool, const std::vector<std::string>& arguments) {
    Join();
    thread_ = std::thread([this, tool, arguments] {
      const double begin_s = MonotonicS();
      status_.Update(search_.Command(tool, arguments));
      last_s_ = MonotonicS() - begin_s;
    });
  }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  // REQUIRES: joined.
  const Status& status() const { return status_; }
  double last_s() const { return last_s_; }

 private:
  const SearchProcesses& search_;
  std::thread thread_;
  Status status_;
  double last_s_ = 0;
};

class SwapRun {
 public:
  SwapRun(const Indexes& indexes, std::string change, const RunContext& context)
      : indexes_(indexes),
        change_(std::move(change)),
        context_(context),
        schedule_(ScheduleOf(context)) {}

  StatusOr<Measurement> Run() {
    NEPTUNE_ASSIGN_OR_RETURN(
        search_, SearchProcesses::Start(*indexes_.first,
                                        {.service_classes = kSearchClasses, .supervised = true}));
    SearchReplay replay(*indexes_.first, *search_);
    replay.AddVersion(*indexes_.second);
    NEPTUNE_ASSIGN_OR_RETURN(const double capacity, Capacity(replay));
    NEPTUNE_ASSIGN_OR_RETURN(
        tools::ReplayPlan plan,
        DemandingReplay(DemandOf(context_) * capacity, schedule_.end, 2 * context_.seed));
    Commands commands(*search_);
    NEPTUNE_ASSIGN_OR_RETURN(const Measurements all,
                             replay.Run(std::move(plan), ActionsOf(&commands)));
    commands.Join();
    NEPTUNE_RETURN_IF_ERROR(commands.status());
    Measurement measured;
    measured["capacity_per_s"] = capacity;
    measured["command_s"] = commands.last_s();
    const Measurements measurements = DueIn(all, schedule_.steady, schedule_.end);
    AddOutcomes(measurements, schedule_.end - schedule_.steady, &measured);
    replay.AddFailureCauses(measurements, &measured);
    measured["p99_before_ms"] =
        1e3 * LatencyQuantileS(DueIn(all, schedule_.steady, schedule_.change), 0.99);
    measured["p99_ms"] = 1e3 * LatencyQuantileS(DueIn(all, schedule_.change, schedule_.end), 0.99);
    NEPTUNE_RETURN_IF_ERROR(replay.AddCoverage(measurements, {}, &measured));
    return measured;
  }

 private:
  static std::vector<std::string> Swap(const std::string& to) {
    return {StrCat("--swap=tier1=", to)};
  }

  // Uses the more expensive implementation where both serve.
  StatusOr<double> Capacity(SearchReplay& replay) {
    const SustainedLoad how{.length_s = schedule_.calibration,
                            .seed = 1000 * context_.seed,
                            .past_caches = true,
                            .is_estimate = context_.length == Length::kSmoke};
    NEPTUNE_ASSIGN_OR_RETURN(double capacity, replay.SustainableRate(how));
    if (change_ != "swap") return capacity;
    NEPTUNE_RETURN_IF_ERROR(search_->Command(kCluster, Swap(kOther)));
    NEPTUNE_ASSIGN_OR_RETURN(const double other, replay.SustainableRate(how));
    NEPTUNE_RETURN_IF_ERROR(search_->Command(kCluster, Swap("")));
    return std::min(capacity, other);
  }

  std::vector<TimedAction> ActionsOf(Commands* commands) const {
    const auto at = [commands](double when_s, const char* tool,
                               std::vector<std::string> arguments) {
      return TimedAction{when_s, [=] { commands->Give(tool, arguments); }};
    };
    if (change_ == "swap") return {at(schedule_.change, kCluster, Swap(kOther))};
    if (change_ == "restart") return {at(schedule_.change, kCluster, {"--rolling_restart"})};
    return {at(schedule_.change, kPublish, {"--index=" + indexes_.second->folder()}),
            at(schedule_.back, kPublish, {"--rollback"})};
  }

  const Indexes& indexes_;
  const std::string change_;
  const RunContext& context_;
  const Schedule schedule_;
  std::unique_ptr<SearchProcesses> search_;
};

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const char* change : kChanges) {
    if (length == Length::kSmoke && std::string(change) != "publish") continue;
    points.push_back(Point{{"change", change}});
  }
  return points;
}

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(const Indexes* const indexes, IndexesOf(DocumentCount(context)));
  return SwapRun(*indexes, point.Text("change"), context).Run();
}

void JudgePoint(const Results& results, const Point& point, Judgement* judgement) {
  const std::string& change = point.Text("change");
  const auto mean = [&](const char* metric) { return results.Mean(point, metric); };
  JudgeAnswers(results, point, ", " + change, 0, judgement);
  judgement
      ->AtMost(StrCat("answers with different results, ", change), "",
               results.Largest(point, "different_count"), 0, "")
      .Shape();
  if (change == "publish") {
    judgement->AtMost("the previous version is current again after", "", mean("command_s"),
                      kRollbackGoalS, "s");
  } else {
    judgement->Shown(StrCat("the command took, ", change), "", mean("command_s"), "s");
  }
  judgement->Shown(StrCat("partial answers, ", change), "", mean("partial_percent"), "%");
  judgement->Shown(StrCat("p99 before, ", change), "", mean("p99_before_ms"), "ms");
  judgement->Shown(StrCat("p99 after the change, ", change), "", mean("p99_ms"), "ms");
  judgement->Shown(StrCat("offered, ", change), "", mean("offered_per_s"), "/s");
  judgement->Shown(StrCat("answered by the cache, ", change), "", mean("hit_percent"), "%");
}

void Judge(const Results& results, Judgement* judgement) {
  for (const Point& point : results.points()) JudgePoint(results, point, judgement);
}

}  // namespace

Experiment SearchSwap() {
  Experiment experiment = SearchExperiment();
  experiment.name = "search_swap";
  experiment.title = "Changes of a search cluster under load";
  experiment.setup =
      "The eight processes of search_failover, started by the cluster tool. Its queries are sent "
      "at 0.7 of the highest rate that the search sustains while all of them bypass the query "
      "cache, in an open loop in which none fails and p99 is at most 250 ms, bounded by the rate "
      "that would saturate both processors. A change needs this reserve: a new version of the "
      "index invalidates all entries of the cache, and a restarted cache is empty. The absence "
      "of a replica takes no processor away, because all eight processes share two: the other "
      "replicas of its partitions do its work at the same cost. Swap: the segments of the index "
      "tier are replaced by postings in RocksDB, replica by replica; the load is 0.7 of the "
      "capacity of the more expensive implementation. Restart: every process, one after the "
      "other. Publish: an index of nine tenths of the documents becomes the current version, and "
      "later the previous one again. Failures are recorded with the frontend's message. A query "
      "fails if it has no answer within 2 s. An answer is mixed or wrong if its count or its "
      "results are not those of the partitions that it names, in the version that it names, "
      "queried alone outside of the cluster; about 300 answers and all partial ones are checked. "
      "All complete answers to a query from one version are compared: numbers and titles in "
      "order.";
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
