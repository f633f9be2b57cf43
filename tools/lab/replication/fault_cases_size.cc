// Cases of size: answers that are not read, a snapshot under writes, many partitions.

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/chaos/flood.h"
#include "tools/chaos/nemesis_module.h"
#include "tools/chaos/process_cluster.h"
#include "tools/lab/replication/fault_cases.h"
#include "tools/lab/replication/write_load.h"

namespace search::lab {
namespace {

using chaos::ProcessCluster;
using neptune::Duration;
using neptune::StatusOr;
using neptune::StrCat;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kStartMax = seconds(60);
constexpr double kMib = 1 << 20;
constexpr double kNever = 1e6;
// The gauge of a node's budget of buffered bytes.
constexpr std::string_view kBudgetMetric = "neptune_memory_budget_bytes";

double ResidentMib(ProcessCluster& cluster, int node) {
  const auto size = cluster.process(node).ResidentSize();
  return size.ok() ? static_cast<double>(*size) / kMib : 0;
}

// The value of the first series of a metric; 0: there is none.
double MetricOf(const ProcessCluster& cluster, int node, std::string_view name) {
  const auto page = cluster.Get(node, "/metrics");
  if (!page.ok()) return 0;
  const size_t at = page->find(StrCat("\n", name));
  if (at == std::string::npos) return 0;
  const size_t end = std::min(page->find('\n', at + 1), page->size());
  const size_t space = page->rfind(' ', end);
  double value = 0;
  std::from_chars(page->data() + space + 1, page->data() + end, value);
  return value;
}

// Looks at the cluster every 50 ms until `is_over`, at most for `time_max`; returns whether it was.
bool Watch(ProcessCluster& cluster, Duration time_max, const std::function<void()>& look,
           const std::function<bool()>& is_over) {
  const neptune::TimePoint end = cluster.Now() + time_max;
  while (cluster.Now() < end) {
    look();
    if (is_over()) return true;
    cluster.Sleep(milliseconds(50));
  }
  return false;
}

}  // namespace

StatusOr<Measurement> RunReaders(const RunContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(auto cluster,
                           ProcessCluster::StartReady({.with_disk_faults = false}, kStartMax));
  constexpr int kReaderCount = 64;
  const int victim = std::max(0, cluster->Primary());
  WriteLoad load(*cluster, {.writer_count = 4, .pause = milliseconds(10)});
  cluster->Sleep(seconds(1));
  const double budget_mib = MetricOf(*cluster, victim, kBudgetMetric) / kMib;
  const double before_mib = ResidentMib(*cluster, victim);
  NEPTUNE_ASSIGN_OR_RETURN(
      auto readers,
      chaos::Flood::Start(cluster->calls(victim), {.method = "Answer",
                                                   .request = StrCat(chaos::kNemesisAnswerSizeMax),
                                                   .connections = kReaderCount,
                                                   .reads = false}));
  double peak_mib = 0;
  const WriteFigures writes = load.MeasureWhile([&] {
    Watch(
        *cluster, context.Pick<Duration>(seconds(1), seconds(5), seconds(15)),
        [&] { peak_mib = std::max(peak_mib, ResidentMib(*cluster, victim)); },
        [] { return false; });
  });
  readers.reset();
  return Measurement{{"before_mib", before_mib},
                     {"resident_mib", peak_mib},
                     {"budget_mib", budget_mib},
                     {"of_budget_ratio", budget_mib > 0 ? peak_mib / budget_mib : kNever},
                     {"write_gap_s", writes.gap_s}};
}

StatusOr<Measurement> RunSnapshot(const RunContext& context) {
  constexpr int kLogMib = 64;
  constexpr size_t kValueSize = 64 * 1024;
  constexpr int kReceiver = 2;
  const double total_mib = context.Pick(16, 256, 4096);
  const double log_cap_mib = context.Pick(4, 16, kLogMib);
  NEPTUNE_ASSIGN_OR_RETURN(
      auto cluster, ProcessCluster::StartReady(
                        {.replication = StrCat("level: 'staleness_bounded' log_entries_kept: 100 ",
                                               "log_size_max_mib: ", static_cast<int>(log_cap_mib)),
                         .with_disk_faults = false},
                        kStartMax));
  cluster->process(kReceiver).Kill();
  {
    WriteLoad fill(*cluster, {.writer_count = 8, .value_size = kValueSize, .key_prefix = "fill"});
    double written_mib = 0;
    while (written_mib < total_mib) {
      const WriteFigures figures = fill.Measure(milliseconds(500));
      if (figures.acknowledged == 0 && figures.gap_s > 60)
        return neptune::Unavailable("the data cannot be filled");
      written_mib += figures.acknowledged * kValueSize / kMib;
    }
  }
  std::vector<double> before_mib;
  for (int i = 0; i < kReceiver; ++i) before_mib.push_back(ResidentMib(*cluster, i));
  WriteLoad load(*cluster, {.writer_count = 4, .value_size = 1024, .pause = milliseconds(10)});
  double sent_before = 0;
  for (int i = 0; i < kReceiver; ++i) {
    if (const auto figures = cluster->Replicas(i); figures.ok())
      sent_before += figures->snapshots_sent;
  }
  NEPTUNE_RETURN_IF_ERROR(cluster->process(kReceiver).Start());
  before_mib.push_back(0);
  double executed = 0;  // by the others; the receiver has to get there
  for (int i = 0; i < kReceiver; ++i) {
    if (const auto figures = cluster->Replicas(i); figures.ok())
      executed = std::max(executed, figures->executed_lsn_sum);
  }
  double growth_mib = 0;
  double log_mib = 0;
  double sent = 0;
  const neptune::TimePoint begin = cluster->Now();
  const auto look = [&] {
    double sent_now = 0;
    for (int i = 0; i <= kReceiver; ++i) {
      const double resident_mib = ResidentMib(*cluster, i);
      growth_mib = std::max(growth_mib, resident_mib - before_mib[static_cast<size_t>(i)]);
      const auto figures = cluster->Replicas(i);
      if (!figures.ok()) continue;
      log_mib = std::max(log_mib, figures->log_size_sum / kMib);
      sent_now += figures->snapshots_sent;
    }
    sent = std::max(sent, sent_now - sent_before);
  };
  const bool has_ended =
      Watch(*cluster, context.Pick<Duration>(seconds(5), seconds(40), seconds(900)), look, [&] {
        const auto figures = cluster->Replicas(kReceiver);
        return figures.ok() && figures->executed_lsn_sum >= executed && cluster->IsWhole(kReceiver);
      });
  return Measurement{
      {"data_mib", total_mib},
      {"snapshot_s", has_ended ? neptune::ToSeconds(cluster->Now() - begin) : kNever},
      {"growth_mib", growth_mib},
      {"snapshot_count", sent},
      {"of_log_cap_ratio", log_mib / log_cap_mib}};
}

StatusOr<Measurement> RunPartitions(const RunContext& context) {
  constexpr uint32_t kPartitionCount = 1000;
  const Duration start_max = context.Pick<Duration>(seconds(5), seconds(30), seconds(180));
  NEPTUNE_ASSIGN_OR_RETURN(
      auto cluster,
      ProcessCluster::Start({.partition_count = context.Pick(10U, 200U, kPartitionCount),
                             .with_disk_faults = false}));
  const neptune::TimePoint begin = cluster->Now();
  bool has_started = true;
  const bool are_whole = Watch(
      *cluster, start_max,
      [&] {
        for (int i = 0; i < cluster->node_count(); ++i) {
          has_started = has_started && !cluster->process(i).HasEnded();
        }
      },
      [&] {
        if (!has_started) return true;
        for (int i = 0; i < cluster->node_count(); ++i) {
          if (!cluster->IsWhole(i)) return false;
        }
        return true;
      });
  Measurement measured = {{"start_s", kNever}, {"idle_percent", kNever}, {"ended_count", 0}};
  if (!has_started) measured["ended_count"] = 1;
  if (!has_started || !are_whole) return measured;
  measured["start_s"] = neptune::ToSeconds(cluster->Now() - begin);
  cluster->Sleep(context.Pick<Duration>(milliseconds(500), seconds(5), seconds(10)));
  const double used_before = cluster->ProcessorSeconds();
  const neptune::TimePoint idle = cluster->Now();
  cluster->Sleep(context.Pick<Duration>(milliseconds(500), seconds(5), seconds(20)));
  const double used = cluster->ProcessorSeconds() - used_before;
  measured["idle_percent"] =
      100 * used / neptune::ToSeconds(cluster->Now() - idle) / cluster->node_count();
  return measured;
}

}  // namespace search::lab
