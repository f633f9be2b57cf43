// The cost of observation: two searches of processes get the same replay alternately; one is
// scraped, traced and logs its spans.

#include <algorithm>
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

constexpr double kLine = 0.98;
constexpr auto kScrapeEvery = std::chrono::seconds(1);
constexpr double kSampledShare = 0.01;

// Smoke runs run in parallel with other tests.
double DemandOf(const RunContext& context) { return context.Pick(0.05, 0.4, 0.4); }

struct Window {
  double answered_per_processor_s = 0;
  double p99_ms = 0;
};

struct Watched {
  double scrape_count = 0;
  double failed_scrape_count = 0;
};

// One search, observed or not.
class Side {
 public:
  static StatusOr<std::unique_ptr<Side>> Start(const SyntheticIndex& index, bool watched) {
    SearchProcessesOptions options{.service_classes = kSearchClasses};
    options.sampled_share = watched ? kSampledShare : 0;
    options.span_logs = watched;
    NEPTUNE_ASSIGN_OR_RETURN(auto search, SearchProcesses::Start(index, options));
    return std::unique_ptr<Side>(new Side(index, std::move(search), watched));
  }

  StatusOr<Window> Run(double rate, double length_s, uint64_t seed) {
    NEPTUNE_ASSIGN_OR_RETURN(tools::ReplayPlan plan, DemandingReplay(rate, length_s, seed));
    std::unique_ptr<PageVisits> scrapes;
    if (watched_) {
      NEPTUNE_ASSIGN_OR_RETURN(scrapes, BeginScrapes());
    }
    const double before_s = search_->ProcessorSeconds();
    NEPTUNE_ASSIGN_OR_RETURN(const auto measurements, replay_.Run(std::move(plan), {}));
    const double used_s = search_->ProcessorSeconds() - before_s;
    if (scrapes != nullptr) Count(scrapes->End());
    const auto answered =
        std::count_if(measurements.begin(), measurements.end(),
                      [](const auto& one) { return one.outcome == tools::Outcome::kAnswered; });
    return Window{static_cast<double>(answered) / std::max(used_s, 1e-9),
                  1e3 * LatencyQuantileS(measurements, 0.99)};
  }

  SearchProcesses& search() { return *search_; }
  SearchReplay& replay() { return replay_; }
  const Watched& counts() const { return counts_; }

 private:
  Side(const SyntheticIndex& index, std::unique_ptr<SearchProcesses> search, bool watched)
      : watched_(watched), search_(std::move(search)), replay_(index, *search_) {}

  StatusOr<std::unique_ptr<PageVisits>> BeginScrapes() const {
    std::vector<Page> pages;
    NEPTUNE_ASSIGN_OR_RETURN(const auto admins, search_->admin_endpoints());
    for (const neptune::Endpoint& admin : admins) pages.push_back({"metrics", admin, "/metrics"});
    return PageVisits::Begin(std::move(pages), kScrapeEvery);
  }
  void Count(const std::map<std::string, VisitTimes>& scrapes) {
    for (const auto& [kind, times] : scrapes) {
      counts_.scrape_count += static_cast<double>(times.ms.size());
      counts_.failed_scrape_count += times.failed_count;
    }
  }

  const bool watched_;
  const std::unique_ptr<SearchProcesses> search_;
  SearchReplay replay_;
  Watched counts_;
};

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

struct Windows {
  std::vector<double> off, on, ratio, p99_off, p99_on;
};

// The same queries to both, alternately; the order changes.
StatusOr<Windows> RunWindows(Side& off, Side& on, double rate, const RunContext& context) {
  const int pair_count = context.Pick(1, 7, 21);
  const double length_s = context.Pick(0.5, 2.0, 5.0);
  Windows windows;
  for (int pair = -1; pair < pair_count; ++pair) {  // the first warms both
    const uint64_t seed = 1000 * context.seed + static_cast<uint64_t>(pair + 1);
    Window with;
    if (pair % 2 == 0) {
      NEPTUNE_ASSIGN_OR_RETURN(with, on.Run(rate, length_s, seed));
    }
    NEPTUNE_ASSIGN_OR_RETURN(const Window without, off.Run(rate, length_s, seed));
    if (pair % 2 != 0) {
      NEPTUNE_ASSIGN_OR_RETURN(with, on.Run(rate, length_s, seed));
    }
    if (pair < 0) continue;
    windows.off.push_back(without.answered_per_processor_s);
    windows.on.push_back(with.answered_per_processor_s);
    windows.ratio.push_back(with.answered_per_processor_s / without.answered_per_processor_s);
    windows.p99_off.push_back(without.p99_ms);
    windows.p99_on.push_back(with.p99_ms);
  }
  return windows;
}

StatusOr<Measurement> Run(const Point&, const RunContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(
      const SyntheticIndex* const index,
      SyntheticIndex::Shared(context.Pick<size_t>(1'000, 10'000, SearchDocumentCount(context))));
  NEPTUNE_ASSIGN_OR_RETURN(const auto off, Side::Start(*index, false));
  NEPTUNE_ASSIGN_OR_RETURN(const auto on, Side::Start(*index, true));
  NEPTUNE_ASSIGN_OR_RETURN(const double capacity,
                           off->replay().Capacity(context.Pick(0.2, 1.0, 3.0), context.seed));
  NEPTUNE_ASSIGN_OR_RETURN(const Windows windows,
                           RunWindows(*off, *on, DemandOf(context) * capacity, context));
  return Measurement{{"ratio", MedianOf(windows.ratio)},
                     {"off_per_processor_s", MedianOf(windows.off)},
                     {"on_per_processor_s", MedianOf(windows.on)},
                     {"p99_off_ms", MedianOf(windows.p99_off)},
                     {"p99_on_ms", MedianOf(windows.p99_on)},
                     {"span_bytes", on->search().SpanBytes()},
                     {"off_span_bytes", off->search().SpanBytes()},
                     {"scrape_count", on->counts().scrape_count},
                     {"failed_scrape_count", on->counts().failed_scrape_count}};
}

void Judge(const Results& results, Judgement* judgement) {
  const Point point = results.points()[0];
  const auto mean = [&](const char* metric) { return results.Mean(point, metric); };
  judgement->AtLeast("answers per second of processor time, observed relative to not observed", "",
                     mean("ratio"), kLine, "x");
  judgement->AtMost("failed scrapes", "", results.Largest(point, "failed_scrape_count"), 0, "")
      .Shape();
  judgement->AtLeast("scrapes", "", mean("scrape_count"), 8, "").Shape();
  judgement
      ->AtMost("bytes of spans written without observation", "",
               results.Largest(point, "off_span_bytes"), 0, "")
      .Shape();
  judgement->AtLeast("bytes of spans written with observation", "", mean("span_bytes"), 1, "");
  judgement->Shown("answers per second of processor time, observed", "", mean("on_per_processor_s"),
                   "/s");
  judgement->Shown("answers per second of processor time, not observed", "",
                   mean("off_per_processor_s"), "/s");
  judgement->Shown("p99, observed", "", mean("p99_on_ms"), "ms");
  judgement->Shown("p99, not observed", "", mean("p99_off_ms"), "ms");
}

}  // namespace

Experiment ObserveCost() {
  Experiment experiment = SearchExperiment();
  experiment.name = "observe_cost";
  experiment.title = "Overhead of metrics, traces and span logs in a search cluster";
  experiment.setup =
      "Two clusters of the eight processes of search_failover receive the same replay one after "
      "the other, at 0.4 of the capacity of one; the order alternates from pair to pair. In the "
      "observed cluster the metrics of every node are scraped once per second, one search in a "
      "hundred is traced, and every node writes its spans; in the other cluster none of this "
      "happens. The number of answers per second of processor time of all processes is compared "
      "pair by pair; the figure is the median.";
  experiment.points = [](Length) { return std::vector<Point>{Point{{"share", "0.01"}}}; };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
