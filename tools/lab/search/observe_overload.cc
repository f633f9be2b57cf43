// Response times of the status pages of an overloaded search.

#include <memory>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/search/page_visits.h"
#include "tools/lab/search/search_processes.h"
#include "tools/lab/search/search_replay.h"
#include "tools/lab/workloads/search_load.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

constexpr double kLineMs = 50;
constexpr auto kVisitEvery = std::chrono::milliseconds(250);
constexpr const char* kFrontendPages[] = {"/console", "/statusz", "/metrics", "/tracez"};
constexpr const char* kAdminPages[] = {"/statusz", "/metrics"};

// Smoke runs run in parallel with other tests.
double DemandOf(const RunContext& context) { return context.Pick(0.05, 1.5, 1.5); }

std::string FrontendKind(const char* page) { return StrCat("frontend", page); }
std::string AdminKind(const char* page) { return StrCat("admin", page); }

StatusOr<std::vector<Page>> PagesOf(const SearchProcesses& search) {
  std::vector<Page> pages;
  for (const neptune::Endpoint& frontend : search.http_endpoints()) {
    for (const char* page : kFrontendPages) pages.push_back({FrontendKind(page), frontend, page});
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto admins, search.admin_endpoints());
  for (const neptune::Endpoint& admin : admins) {
    for (const char* page : kAdminPages) pages.push_back({AdminKind(page), admin, page});
  }
  return pages;
}

StatusOr<Measurement> Run(const Point&, const RunContext& context) {
  const double warm_up_s = context.Pick(0.2, 2.0, 4.0);
  const double length_s = context.Pick(1.0, 12.0, 60.0);
  NEPTUNE_ASSIGN_OR_RETURN(const SyntheticIndex* const index,
                           SyntheticIndex::Shared(context.Pick<size_t>(
                               1'000, SearchDocumentCount(context), SearchDocumentCount(context))));
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto search,
      SearchProcesses::Start(*index, {.service_classes = kSearchClasses, .sampled_share = 0.01}));
  SearchReplay replay(*index, *search);
  NEPTUNE_ASSIGN_OR_RETURN(const double capacity,
                           replay.Capacity(context.Pick(0.2, 1.0, 3.0), 2 * context.seed));
  NEPTUNE_ASSIGN_OR_RETURN(tools::ReplayPlan plan, DemandingReplay(DemandOf(context) * capacity,
                                                                   length_s, 2 * context.seed + 1));
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<Page> pages, PagesOf(*search));
  std::unique_ptr<PageVisits> visits;
  neptune::Status begun;
  std::map<std::string, VisitTimes> times;
  const auto begin = [&] {
    auto started = PageVisits::Begin(pages, kVisitEvery);
    begun = started.status();
    if (started.ok()) visits = *std::move(started);
  };
  const auto end = [&] {
    if (visits != nullptr) times = visits->End();
  };
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto all, replay.Run(std::move(plan), {{warm_up_s, begin}, {0.98 * length_s, end}}));
  NEPTUNE_RETURN_IF_ERROR(begun);
  Measurement measured{{"capacity_per_s", capacity}};
  AddOutcomes(DueIn(all, warm_up_s, length_s), length_s - warm_up_s, &measured);
  for (const auto& [kind, visited] : times) {
    measured[kind + "_p50_ms"] = visited.Quantile(0.5);
    measured[kind + "_p99_ms"] = visited.Quantile(0.99);
    measured[kind + "_count"] = static_cast<double>(visited.ms.size());
    measured["failed_visit_count"] += visited.failed_count;
  }
  return measured;
}

void JudgeKind(const Results& results, const std::string& kind, Judgement* judgement) {
  const Point point = results.points()[0];
  judgement->AtMost(StrCat("p99 of ", kind), "", results.Mean(point, kind + "_p99_ms"), kLineMs,
                    "ms");
  judgement->AtLeast(StrCat("visits, ", kind), "", results.Mean(point, kind + "_count"), 4, "")
      .Shape();
}

void Judge(const Results& results, Judgement* judgement) {
  const Point point = results.points()[0];
  for (const char* page : kFrontendPages) JudgeKind(results, FrontendKind(page), judgement);
  for (const char* page : kAdminPages) JudgeKind(results, AdminKind(page), judgement);
  judgement
      ->AtMost("page requests without an answer", "", results.Largest(point, "failed_visit_count"),
               0, "")
      .Shape();
  // Otherwise there was no overload.
  judgement->AtLeast("queries that are refused or late", "", results.Mean(point, "failed_percent"),
                     1, "%");
  judgement->Shown("offered", "", results.Mean(point, "offered_per_s"), "/s");
  judgement->Shown("capacity of the search", "", results.Mean(point, "capacity_per_s"), "/s");
}

}  // namespace

Experiment ObserveOverload() {
  Experiment experiment = SearchExperiment();
  experiment.name = "observe_overload";
  experiment.title = "Latency of status pages while the search is overloaded";
  experiment.setup =
      "The eight processes of search_failover and its queries, at 1.5 times the rate that would "
      "saturate both processors. Every quarter of a second each page of both frontends and of "
      "the administration of all eight processes is fetched over its own connection. A thread "
      "beside the one that sends queries and reads answers does this, on the same two processors.";
  experiment.points = [](Length) { return std::vector<Point>{Point{{"load", "1.5"}}}; };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
