// Cases of size: answers that are not read, a snapshot under writes, many partitions.

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
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
using neptune::Status;
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

namespace {

constexpr int kReceiver = 2;

// A member that was away takes the data of two others.
class SnapshotRun {
 public:
  explicit SnapshotRun(const RunContext& context)
      : context_(context),
        total_mib_(context.Pick(16, 256, 4096)),
        log_cap_mib_(context.Pick(4, 16, 64)) {}

  Status Start() {
    chaos::ProcessClusterOptions options{.with_disk_faults = false};
    options.replication = StrCat("level: 'staleness_bounded' log_entries_kept: 100 ",
                                 "log_size_max_mib: ", log_cap_mib_);
    NEPTUNE_ASSIGN_OR_RETURN(cluster_, ProcessCluster::StartReady(options, kStartMax));
    cluster_->process(kReceiver).Kill();
    return Fill();
  }

  StatusOr<Measurement> Run() {
    for (int i = 0; i < kReceiver; ++i) before_mib_[i] = ResidentMib(*cluster_, i);
    sent_before_ = Sum(&chaos::ReplicaFigures::snapshots_sent);
    WriteLoad load(*cluster_, {.writer_count = 4, .value_size = 1024, .pause = milliseconds(10)});
    NEPTUNE_RETURN_IF_ERROR(cluster_->process(kReceiver).Start());
    const double goal = Sum(&chaos::ReplicaFigures::executed_lsn_sum) / kReceiver;
    const neptune::TimePoint begin = cluster_->Now();
    const bool has_ended = Watch(
        *cluster_, context_.Pick<Duration>(seconds(5), seconds(40), seconds(900)), [&] { Look(); },
        [&] { return HasCaughtUp(goal); });
    return Measurement{
        {"data_mib", static_cast<double>(total_mib_)},
        {"snapshot_s", has_ended ? neptune::ToSeconds(cluster_->Now() - begin) : kNever},
        {"growth_mib", growth_mib_},
        {"snapshot_count", sent_},
        {"of_log_cap_ratio", log_mib_ / log_cap_mib_}};
  }

 private:
  Status Fill() {
    constexpr size_t kValueSize = 64 * 1024;
    constexpr double kStandstillMaxS = 60;
    WriteLoad load(*cluster_, {.writer_count = 8, .value_size = kValueSize, .key_prefix = "fill"});
    neptune::TimePoint last = cluster_->Now();
    for (double written_mib = 0; written_mib < total_mib_;) {
      const WriteFigures figures = load.Measure(milliseconds(500));
      if (figures.acknowledged > 0) last = cluster_->Now();
      if (neptune::ToSeconds(cluster_->Now() - last) > kStandstillMaxS)
        return neptune::Unavailable("filling the data stands still");
      written_mib += figures.acknowledged * kValueSize / kMib;
    }
    return neptune::OkStatus();
  }

  // Over the members that have the data.
  double Sum(double chaos::ReplicaFigures::*figure) const {
    double sum = 0;
    for (int i = 0; i < kReceiver; ++i) {
      if (const auto figures = cluster_->Replicas(i); figures.ok()) sum += (*figures).*figure;
    }
    return sum;
  }

  void Look() {
    for (int i = 0; i <= kReceiver; ++i) {
      growth_mib_ = std::max(growth_mib_, ResidentMib(*cluster_, i) - before_mib_[i]);
      if (const auto figures = cluster_->Replicas(i); figures.ok())
        log_mib_ = std::max(log_mib_, figures->log_size_sum / kMib);
    }
    sent_ = std::max(sent_, Sum(&chaos::ReplicaFigures::snapshots_sent) - sent_before_);
  }

  bool HasCaughtUp(double goal) const {
    const auto figures = cluster_->Replicas(kReceiver);
    return figures.ok() && figures->executed_lsn_sum >= goal && cluster_->IsWhole(kReceiver);
  }

  const RunContext& context_;
  const int total_mib_;
  const int log_cap_mib_;
  std::unique_ptr<ProcessCluster> cluster_;
  double before_mib_[kReceiver + 1] = {};
  double sent_before_ = 0;
  double growth_mib_ = 0;
  double log_mib_ = 0;
  double sent_ = 0;
};

}  // namespace

StatusOr<Measurement> RunSnapshot(const RunContext& context) {
  SnapshotRun run(context);
  NEPTUNE_RETURN_IF_ERROR(run.Start());
  return run.Run();
}

namespace {

bool AllAreWhole(const ProcessCluster& cluster) {
  for (int i = 0; i < cluster.node_count(); ++i) {
    if (!cluster.IsWhole(i)) return false;
  }
  return true;
}

// Processor time of an idle node, in percent of a processor.
double IdlePercent(ProcessCluster& cluster, Duration time) {
  const double used_before = cluster.ProcessorSeconds();
  const neptune::TimePoint begin = cluster.Now();
  cluster.Sleep(time);
  const double used = cluster.ProcessorSeconds() - used_before;
  return 100 * used / neptune::ToSeconds(cluster.Now() - begin) / cluster.node_count();
}

}  // namespace

namespace {

// Seconds until all replicas serve; nullopt: a node ended, or the time is over.
std::optional<double> AwaitStart(ProcessCluster& cluster, Duration time_max) {
  const neptune::TimePoint begin = cluster.Now();
  bool has_started = true;
  const auto look = [&] {
    for (int i = 0; i < cluster.node_count(); ++i) {
      has_started = has_started && !cluster.process(i).HasEnded();
    }
  };
  const bool is_over =
      Watch(cluster, time_max, look, [&] { return !has_started || AllAreWhole(cluster); });
  if (!has_started || !is_over) return std::nullopt;
  return neptune::ToSeconds(cluster.Now() - begin);
}

// Seconds until all replicas serve after all processes were killed, with data in every partition.
StatusOr<double> RestartWithData(ProcessCluster& cluster, Duration write_max, Duration time_max) {
  NEPTUNE_RETURN_IF_ERROR(cluster.AwaitWrites(write_max));
  for (int i = 0; i < cluster.node_count(); ++i) cluster.process(i).Kill();
  for (int i = 0; i < cluster.node_count(); ++i) {
    NEPTUNE_RETURN_IF_ERROR(cluster.process(i).Start());
  }
  return AwaitStart(cluster, time_max).value_or(kNever);
}

}  // namespace

StatusOr<Measurement> RunPartitions(const RunContext& context) {
  const Duration start_max = context.Pick<Duration>(seconds(5), seconds(30), seconds(180));
  NEPTUNE_ASSIGN_OR_RETURN(auto cluster,
                           ProcessCluster::Start({.partition_count = context.Pick(10U, 200U, 1000U),
                                                  .with_disk_faults = false}));
  const std::optional<double> start_s = AwaitStart(*cluster, start_max);
  if (!start_s) {
    return Measurement{{"start_s", kNever}, {"idle_percent", kNever}, {"restart_s", kNever}};
  }
  const Duration settle = context.Pick<Duration>(milliseconds(500), seconds(5), seconds(10));
  cluster->Sleep(settle);
  const double idle_percent = IdlePercent(*cluster, 2 * settle);
  NEPTUNE_ASSIGN_OR_RETURN(const double restart_s,
                           RestartWithData(*cluster, 2 * start_max, start_max));
  return Measurement{
      {"start_s", *start_s}, {"idle_percent", idle_percent}, {"restart_s", restart_s}};
}

}  // namespace search::lab
