// A search whose documents change during use, while the primaries of an index and a document
// partition die.

#include <algorithm>
#include <csignal>
#include <memory>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/search/document_writes.h"
#include "tools/lab/search/merge_windows.h"
#include "tools/lab/search/search_processes.h"
#include "tools/lab/search/search_replay.h"
#include "tools/lab/workloads/search_load.h"
#include "tools/terminal/progress.h"

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using Measurements = std::vector<tools::Measurement>;

constexpr double kDemand = 0.15;
constexpr double kWriteShare = 0.05;
// The time from the start of a node until it serves.
constexpr double kStartS = 0.5;
constexpr const char* kStores[] = {"store-1", "store-2", "store-3", "store-4"};

// Times of a run, in seconds.
struct Schedule {
  double steady = 0;  // what was left of the calibration is done, and the cache is warm
  double writes = 0;  // they begin
  double fault = 0;
  double undone = 0;
  double end = 0;
  double calibration = 0;  // before it all
};

Schedule ScheduleOf(const RunContext& context) {
  return context.Pick(Schedule{0.2, 0.4, 0.8, 1.6, 2.2, 0.4}, Schedule{1, 3, 5, 7.5, 10, 0.7},
                      Schedule{4, 12, 24, 34, 46, 4});
}

Point PointOf(bool writes, bool kill) {
  return Point{{"writes", writes ? "5 %" : "none"}, {"fault", kill ? "primaries" : "none"}};
}

std::vector<Point> Points(Length length) {
  if (length == Length::kSmoke) return {PointOf(true, true)};
  return {PointOf(false, false), PointOf(true, false), PointOf(true, true)};
}

// About as long as a published document. Its unique words leave the counts of the published
// documents unchanged, which the coverage ledger uses.
std::string TextOf(const DocumentWrite& write) {
  std::string text = MadeBody(write.doc_id);
  if (write.is_published) return text;
  std::replace(text.begin(), text.end(), 'w', 'n');
  return text;
}

double QuantileS(std::vector<double> times, double share) {
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
}

class UpdatesRun {
 public:
  UpdatesRun(const SyntheticIndex& index, const Point& point, const RunContext& context)
      : index_(index),
        with_writes_(point.Text("writes") != "none"),
        context_(context),
        schedule_(ScheduleOf(context)) {
    if (point.Text("fault") != "none") victims_ = {kStores[context.seed % std::size(kStores)]};
  }

  StatusOr<Measurement> Run() {
    NEPTUNE_ASSIGN_OR_RETURN(
        search_, SearchProcesses::Start(
                     index_, {.service_classes = kSearchClasses, .documents_change = true}));
    SearchReplay replay(index_, *search_);
    NEPTUNE_ASSIGN_OR_RETURN(const double capacity,
                             replay.Capacity(schedule_.calibration, 2 * context_.seed + 1));
    // The capacity of a smoke run's small index is so high that a disk cannot write 5 % of it.
    const double rate = std::min(kDemand * capacity, context_.Pick(150.0, 1e6, 1e6));
    NEPTUNE_ASSIGN_OR_RETURN(tools::ReplayPlan plan,
                             DemandingReplay(rate, schedule_.end, 2 * context_.seed));
    NEPTUNE_ASSIGN_OR_RETURN(writes_, MakeWrites(rate * kWriteShare / (1 - kWriteShare)));
    NEPTUNE_ASSIGN_OR_RETURN(const Measurements all, replay.Run(std::move(plan), Actions()));
    NEPTUNE_RETURN_IF_ERROR(done_);
    Measurement measured{{"capacity_per_s", capacity}};
    AddQueries(all, &measured);
    if (with_writes_) AddMerges(all, &measured);
    if (!victims_.empty()) {
      measured["primaries_killed_count"] = primaries_killed_;
      measured["killed_no_primary_count"] = primaries_killed_ == 0 ? 1 : 0;
    }
    NEPTUNE_RETURN_IF_ERROR(AddCoverage(replay, all, &measured));
    if (with_writes_) NEPTUNE_RETURN_IF_ERROR(AddWrites(&measured));
    return measured;
  }

 private:
  StatusOr<std::unique_ptr<DocumentWrites>> MakeWrites(double rate) const {
    DocumentWritesOptions options;
    options.servers = search_->http_endpoints();
    options.rate = rate;
    options.seed = context_.seed;
    options.ledger.published_count = SearchDocumentCount(context_);
    options.text = TextOf;
    return DocumentWrites::Make(std::move(options));
  }

  std::vector<TimedAction> Actions() {
    std::vector<TimedAction> actions;
    actions.push_back({0, [this] { begun_at_ns_ = tools::MonotonicNanoseconds(); }});
    if (with_writes_) actions.push_back({schedule_.writes, [this] { writes_->Begin(); }});
    for (const std::string& node : victims_) {
      actions.push_back({schedule_.fault, [this, node] {
                           done_.Update(CountPrimaries(node));
                           search_->Signal(node, SIGKILL);
                         }});
      actions.push_back(
          {schedule_.undone, [this, node] { done_.Update(search_->StartAgain(node)); }});
    }
    if (with_writes_) {
      actions.push_back({schedule_.end, [this] {
                           for (const char* node : kStores) done_.Update(ReadMerges(node));
                         }});
    }
    return actions;
  }

  // What fails with the node, by its status just before: the index and document partitions of which
  // it is the primary, and its merges.
  Status CountPrimaries(const std::string& node) {
    if (with_writes_) NEPTUNE_RETURN_IF_ERROR(ReadMerges(node));
    NEPTUNE_ASSIGN_OR_RETURN(const auto tables, search_->StatusOf(node, "replicas"));
    for (const tools::StatusTable& table : tables) {
      for (const auto& row : table.rows) {
        const auto role = row.find("role");
        if (role == row.end()) return neptune::DataLoss("replicas without roles");
        if (role->second == "primary") ++primaries_killed_;
      }
    }
    return neptune::OkStatus();
  }

  Status ReadMerges(const std::string& node) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto section, search_->StatusOf(node, "index tier1 merges"));
    const double now_s = 1e-9 * static_cast<double>(tools::MonotonicNanoseconds() - begun_at_ns_);
    NEPTUNE_ASSIGN_OR_RETURN(const auto merges, MergesOf(section, now_s));
    merges_.insert(merges_.end(), merges.begin(), merges.end());
    return neptune::OkStatus();
  }

  void AddMerges(const Measurements& all, Measurement* measured) const {
    const MergeWindows windows = SplitByMerges(all, merges_, schedule_.writes, schedule_.end);
    (*measured)["merge_count"] = static_cast<double>(merges_.size());
    double taken_s = 0;
    for (const MergeSpan& merge : merges_) taken_s += merge.end_s - merge.begin_s;
    (*measured)["merge_mean_ms"] =
        1e3 * taken_s / std::max(1.0, static_cast<double>(merges_.size()));
    (*measured)["merging_windows_percent"] = windows.with_percent;
    (*measured)["p50_merging_ms"] = 1e3 * LatencyQuantileS(windows.with, 0.5);
    (*measured)["p99_merging_ms"] = 1e3 * LatencyQuantileS(windows.with, 0.99);
    (*measured)["p50_not_merging_ms"] = 1e3 * LatencyQuantileS(windows.without, 0.5);
    (*measured)["p99_not_merging_ms"] = 1e3 * LatencyQuantileS(windows.without, 0.99);
  }

  void AddQueries(const Measurements& all, Measurement* measured) const {
    const Measurements before = DueIn(all, schedule_.steady, schedule_.writes);
    const Measurements writing = DueIn(all, schedule_.writes, schedule_.end);
    AddOutcomes(writing, schedule_.end - schedule_.writes, measured);
    (*measured)["p50_before_ms"] = 1e3 * LatencyQuantileS(before, 0.5);
    (*measured)["p99_before_ms"] = 1e3 * LatencyQuantileS(before, 0.99);
    (*measured)["p50_writing_ms"] = 1e3 * LatencyQuantileS(writing, 0.5);
    (*measured)["p99_writing_ms"] = 1e3 * LatencyQuantileS(writing, 0.99);
  }

  Status AddCoverage(const SearchReplay& replay, const Measurements& all,
                     Measurement* measured) const {
    const Measurements measurements = DueIn(all, schedule_.steady, schedule_.end);
    NEPTUNE_ASSIGN_OR_RETURN(
        const CoverageCounts counts,
        replay.CountCoverage(
            measurements,
            {.nodes = victims_, .begin_s = schedule_.fault, .end_s = schedule_.undone + kStartS}));
    const double percent = 100 / std::max(1.0, static_cast<double>(measurements.size()));
    (*measured)["untrue_count"] = counts.untrue;
    (*measured)["looked_at_count"] = counts.looked_at;
    (*measured)["partial_percent"] = percent * counts.partial;
    (*measured)["unexplained_percent"] = percent * counts.unexplained;
    return neptune::OkStatus();
  }

  Status AddWrites(Measurement* measured) const {
    NEPTUNE_RETURN_IF_ERROR(writes_->Finish());
    const DocumentWriteFigures& figures = writes_->figures();
    (*measured)["acknowledged_count"] = static_cast<double>(figures.acknowledged_s.size());
    (*measured)["given_up_count"] = figures.given_up_count;
    (*measured)["repeated_count"] = figures.repeated_count;
    (*measured)["acknowledged_p50_ms"] = 1e3 * QuantileS(figures.acknowledged_s, 0.5);
    (*measured)["acknowledged_p99_ms"] = 1e3 * QuantileS(figures.acknowledged_s, 0.99);
    (*measured)["acknowledged_max_ms"] = 1e3 * QuantileS(figures.acknowledged_s, 1);
    (*measured)["watched_count"] = static_cast<double>(figures.findable_s.size());
    (*measured)["findable_p50_s"] = QuantileS(figures.findable_s, 0.5);
    (*measured)["findable_p99_s"] = QuantileS(figures.findable_s, 0.99);
    (*measured)["findable_max_s"] = QuantileS(figures.findable_s, 1);
    const VerifyFigures verified = writes_->Verify();
    (*measured)["verified_count"] = verified.asked_count;
    (*measured)["lost_count"] = verified.lost_count;
    (*measured)["undead_count"] = verified.undead_count;
    (*measured)["unheard_count"] = verified.unheard_count;
    return neptune::OkStatus();
  }

  const SyntheticIndex& index_;
  const bool with_writes_;
  const RunContext& context_;
  const Schedule schedule_;
  std::vector<std::string> victims_;
  std::unique_ptr<SearchProcesses> search_;
  std::unique_ptr<DocumentWrites> writes_;
  int64_t begun_at_ns_ = 0;
  std::vector<MergeSpan> merges_;
  double primaries_killed_ = 0;
  Status done_;  // of all actions
};

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(const SyntheticIndex* const index, SearchIndex(context));
  return UpdatesRun(*index, point, context).Run();
}

void JudgeWrites(const Results& results, const Point& point, const std::string& name,
                 Judgement* judgement) {
  const auto mean = [&](const char* metric) { return results.Mean(point, metric); };
  const auto count = [&](const char* what, const char* metric) {
    judgement->AtMost(StrCat(what, name), "", results.Largest(point, metric), 0, "").Shape();
  };
  count("acknowledged documents that are lost", "lost_count");
  count("removed or replaced documents that are found", "undead_count");
  count("answers that were never counted", "unheard_count");
  count("writes given up", "given_up_count");
  judgement->AtMost(StrCat("time from acknowledgement to found everywhere, longest", name), "",
                    results.Largest(point, "findable_max_s"), neptune::ToSeconds(kFindableGoal),
                    "s");
  judgement->Shown(StrCat("the same, median", name), "", mean("findable_p50_s"), "s");
  judgement->Shown(StrCat("acknowledged writes", name), "", mean("acknowledged_count"), "");
  judgement->Shown(StrCat("merges on four nodes", name), "", mean("merge_count"), "");
  judgement->Shown(StrCat("duration of a merge, mean", name), "", mean("merge_mean_ms"), "ms");
  judgement->Shown(StrCat("windows of 50 ms with a merge", name), "",
                   mean("merging_windows_percent"), "%");
  judgement->Shown(StrCat("p99 of queries in windows with a merge", name), "",
                   mean("p99_merging_ms"), "ms");
  judgement->Shown(StrCat("p99 of queries in windows without", name), "",
                   mean("p99_not_merging_ms"), "ms");
  judgement->Shown(StrCat("latency of a write, median", name), "", mean("acknowledged_p50_ms"),
                   "ms");
  judgement->Shown(StrCat("latency of a write, longest", name), "", mean("acknowledged_max_ms"),
                   "ms");
}

void Judge(const Results& results, Judgement* judgement) {
  for (const Point& point : results.points()) {
    const bool with_writes = point.Text("writes") != "none";
    const std::string name = !with_writes                    ? ", no writes"
                             : point.Text("fault") == "none" ? ""
                                                             : ", primaries killed";
    if (with_writes) JudgeWrites(results, point, name, judgement);
    if (point.Text("fault") != "none") {
      judgement
          ->AtMost("runs whose killed node was not a primary", "",
                   results.Largest(point, "killed_no_primary_count"), 0, "")
          .Shape();
      judgement->Shown("partitions whose primary was killed", "",
                       results.Mean(point, "primaries_killed_count"), "");
    }
    judgement->AtMost(StrCat("queries that fail", name), "", results.Mean(point, "failed_percent"),
                      0.1, "%");
    judgement
        ->AtMost(StrCat("answers with wrong coverage", name), "",
                 results.Largest(point, "untrue_count"), 0, "")
        .Shape();
    judgement->AtMost(StrCat("answers that lack a running partition", name), "",
                      results.Mean(point, "unexplained_percent"), 0.1, "%");
    judgement->Shown(StrCat("p50 of queries", name), "", results.Mean(point, "p50_writing_ms"),
                     "ms");
    judgement->Shown(StrCat("p99 of queries", name), "", results.Mean(point, "p99_writing_ms"),
                     "ms");
    judgement->Shown(StrCat("answered by the cache", name), "", results.Mean(point, "hit_percent"),
                     "%");
  }
  judgement->Shown("queries offered", "", results.Mean(results.points()[0], "offered_per_s"), "/s");
}

}  // namespace

Experiment SearchUpdates() {
  Experiment experiment = SearchExperiment();
  experiment.name = "search_updates";
  experiment.title = "A search whose documents change while they are searched";
  experiment.setup =
      "The eight processes of search_failover on two processors, with documents that change: "
      "every partition of the index and of the documents has two replicas and a witness, so that "
      "either replica may be lost. Queries are those of search_failover, at 0.15 of the rate "
      "that would saturate both processors without changes. 5 % of all requests are writes over "
      "HTTP to either frontend: half of them new documents, a fifth removals, the rest new "
      "versions of documents, half of these of published ones. Every refresh makes a segment and "
      "four segments are merged, so that there is always a merge; each node reports its merges, "
      "and queries are divided by whether any node merged in the 50 ms in which they were due. "
      "Every 5 s the collection's statistics are renewed by the changes. In the last point the "
      "node "
      "that is the primary of one index partition and of one document partition (as its status "
      "shows just before) is killed at 24 s and restarted at 34 of 46 s. Each version of a "
      "document contains a word that occurs in no other text. A write is repeated until it is "
      "acknowledged. For up to three acknowledged writes at a time, each frontend is queried "
      "every 50 ms, including its cache, until it shows the version, or no longer shows the "
      "removed document. At the end each frontend is queried twice, bypassing the cache, for "
      "each word that was ever written: an acknowledged write is lost if it is not found, or if "
      "the document servers show something else. Coverage is defined as in search_failover. The "
      "first point is the same without writes.";
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
