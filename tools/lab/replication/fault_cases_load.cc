// Cases with closed-loop writers: quiet, beside floods and long requests, on slow disks.

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/chaos/flood.h"
#include "tools/chaos/process_cluster.h"
#include "tools/lab/replication/fault_cases.h"
#include "tools/lab/replication/write_load.h"

namespace search::lab {
namespace {

using chaos::Flood;
using chaos::FloodOptions;
using chaos::ProcessCluster;
using neptune::Duration;
using neptune::Status;
using neptune::StatusOr;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kStartMax = seconds(60);
constexpr Duration kSettle = milliseconds(1000);
constexpr int kSlowDiskWriters = 8;
constexpr int kLongWriters = 8;
constexpr double kUsPerMs = 1000;

StatusOr<std::unique_ptr<ProcessCluster>> StartCluster(
    const chaos::ProcessClusterOptions& options) {
  return ProcessCluster::StartReady(options, kStartMax);
}

Duration WindowOf(const RunContext& context) {
  return context.Pick<Duration>(milliseconds(500), seconds(4), seconds(15));
}

// The largest epoch and end of the log that any node knows.
struct LogFigures {
  double epoch = 0;
  double last_lsn = 0;
};
LogFigures LogOf(const ProcessCluster& cluster) {
  LogFigures log;
  for (int i = 0; i < cluster.node_count(); ++i) {
    const auto figures = cluster.Replicas(i);
    if (!figures.ok()) continue;
    log.epoch = std::max(log.epoch, figures->epoch_sum);
    log.last_lsn = std::max(log.last_lsn, figures->received_lsn_sum);
  }
  return log;
}

// Floods in processes of their own, and the processor time they use.
class Floods {
 public:
  Status Add(const neptune::Endpoint& node, const FloodOptions& options) {
    NEPTUNE_ASSIGN_OR_RETURN(auto flood, Flood::Start(node, options));
    floods_.push_back(std::move(flood));
    return neptune::OkStatus();
  }
  double ProcessorSeconds() const {
    double used = 0;
    for (const auto& flood : floods_) used += flood->ProcessorSeconds();
    return used;
  }
  StatusOr<double> Answers() {
    double answers = 0;
    for (const auto& flood : floods_) {
      NEPTUNE_ASSIGN_OR_RETURN(const chaos::FloodTotals totals, flood->Totals());
      answers += totals.answers;
    }
    return answers;
  }

 private:
  std::vector<std::unique_ptr<Flood>> floods_;
};

}  // namespace

StatusOr<Measurement> RunQuiet(const RunContext& context, const std::string& program) {
  NEPTUNE_ASSIGN_OR_RETURN(
      auto cluster,
      StartCluster({.program = program, .with_disk_faults = false, .with_nemesis = false}));
  WriteLoad load(*cluster, {});
  cluster->Sleep(kSettle);
  const WriteFigures figures = load.Measure(WindowOf(context));
  return Measurement{
      {"is_measured", 1},
      {"acknowledged", figures.acknowledged},
      {"failed", figures.failed},
      {"writes_per_s", figures.rate()},
      {"writes_per_processor_s", figures.acknowledged / std::max(figures.processor_s, 1e-3)},
      {"p50_ms", figures.p50_ms},
      {"p99_ms", figures.p99_ms}};
}

StatusOr<Measurement> RunBefore(const RunContext& context) {
  const char* const program = getenv(kBeforeVariable);
  if (program != nullptr && *program != '\0') return RunQuiet(context, program);
  return Measurement{{"is_measured", 0}, {"writes_per_s", 0}, {"p50_ms", 0}};
}

StatusOr<Measurement> RunFlood(const RunContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(auto cluster, StartCluster({.with_disk_faults = false}));
  WriteLoad load(*cluster, {});
  cluster->Sleep(kSettle);
  const WriteFigures quiet = load.Measure(WindowOf(context));
  Floods floods;
  for (int i = 0; i < cluster->node_count(); ++i) {
    NEPTUNE_RETURN_IF_ERROR(
        floods.Add(cluster->calls(i), chaos::FloodOf(neptune::Fault::Kind::kFloodShort)));
  }
  cluster->Sleep(kSettle);
  const LogFigures before = LogOf(*cluster);
  double flood_s = -floods.ProcessorSeconds();
  NEPTUNE_RETURN_IF_ERROR(floods.Answers().status());
  const WriteFigures flooded = load.Measure(WindowOf(context));
  flood_s += floods.ProcessorSeconds();
  NEPTUNE_ASSIGN_OR_RETURN(const double answers, floods.Answers());
  const double processors = std::max(1U, std::thread::hardware_concurrency());
  // What the floods' own processes use is not there for the nodes.
  const double share = std::clamp(1 - flood_s / (flooded.elapsed_s * processors), 0.05, 1.0);
  return Measurement{{"quiet_writes_per_s", quiet.rate()},
                     {"writes_per_s", flooded.rate()},
                     {"answers_per_s", answers / flooded.elapsed_s},
                     {"share_ratio", share},
                     {"of_share_ratio", flooded.rate() / std::max(quiet.rate() * share, 1e-3)},
                     {"write_gap_s", flooded.gap_s},
                     {"primary_change_count", LogOf(*cluster).epoch - before.epoch}};
}

namespace {

const FloodOptions& OneLongRequest() {
  static const auto* const options =
      new FloodOptions{.method = "Work", .request = "300000", .connections = 1};
  return *options;
}

// p99 of requests of 1 ms, one at a time, alone and beside a long one.
Status MeasureRequests(ProcessCluster& cluster, const neptune::Endpoint& at, Duration window,
                       Measurement& measured) {
  NEPTUNE_ASSIGN_OR_RETURN(
      auto small, Flood::Start(at, {.method = "Work", .request = "1000", .connections = 1}));
  std::unique_ptr<Flood> beside;
  for (const char* metric : {"quiet_request_p99_ms", "request_p99_ms"}) {
    cluster.Sleep(kSettle);
    NEPTUNE_RETURN_IF_ERROR(small->Totals().status());
    cluster.Sleep(window);
    NEPTUNE_ASSIGN_OR_RETURN(const chaos::FloodTotals totals, small->Totals());
    measured[metric] = totals.p99_us / kUsPerMs;
    if (beside == nullptr) {
      NEPTUNE_ASSIGN_OR_RETURN(beside, Flood::Start(at, OneLongRequest()));
    }
  }
  return neptune::OkStatus();
}

// The same for writes.
Status MeasureWrites(ProcessCluster& cluster, const neptune::Endpoint& at, Duration window,
                     Measurement& measured) {
  WriteLoad load(cluster, {.writer_count = kLongWriters});
  cluster.Sleep(kSettle);
  const WriteFigures quiet = load.Measure(window);
  const LogFigures before = LogOf(cluster);
  NEPTUNE_ASSIGN_OR_RETURN(const auto beside, Flood::Start(at, OneLongRequest()));
  const WriteFigures figures = load.Measure(window);
  measured["quiet_write_p99_ms"] = quiet.p99_ms;
  measured["write_p99_ms"] = figures.p99_ms;
  measured["quiet_writes_per_s"] = quiet.rate();
  measured["writes_per_s"] = figures.rate();
  measured["primary_change_count"] = LogOf(cluster).epoch - before.epoch;
  return neptune::OkStatus();
}

}  // namespace

StatusOr<Measurement> RunLong(const RunContext& context) {
  constexpr double kShortestMs = 1e-3;
  NEPTUNE_ASSIGN_OR_RETURN(
      auto cluster, StartCluster({.node_fields = "worker_threads: 4", .with_disk_faults = false}));
  const neptune::Endpoint at = cluster->calls(std::max(0, cluster->Primary()));
  Measurement measured;
  NEPTUNE_RETURN_IF_ERROR(MeasureRequests(*cluster, at, WindowOf(context), measured));
  NEPTUNE_RETURN_IF_ERROR(MeasureWrites(*cluster, at, WindowOf(context), measured));
  measured["request_ratio"] =
      measured["request_p99_ms"] / std::max(measured["quiet_request_p99_ms"], kShortestMs);
  measured["write_ratio"] =
      measured["write_p99_ms"] / std::max(measured["quiet_write_p99_ms"], kShortestMs);
  return measured;
}

StatusOr<Measurement> RunSlowFlush(const RunContext& context, double delay_ms) {
  const Duration delay = neptune::FromSeconds(delay_ms / 1e3);
  NEPTUNE_ASSIGN_OR_RETURN(auto cluster, StartCluster({}));
  for (int i = 0; i < cluster->node_count(); ++i) cluster->disk(i).SetFlushDelay(delay);
  const LogFigures before = LogOf(*cluster);
  WriteLoad load(*cluster, {.writer_count = kSlowDiskWriters});
  const WriteFigures figures = load.Measure(WindowOf(context) + 10 * delay);
  const auto acknowledged = static_cast<double>(load.End());
  const LogFigures after = LogOf(*cluster);
  constexpr double kNone = 1e6;  // the figure of no write at all
  return Measurement{{"acknowledged", acknowledged},
                     {"writes_per_s", figures.rate()},
                     {"entries_per_write",
                      acknowledged > 0 ? (after.last_lsn - before.last_lsn) / acknowledged : kNone},
                     {"p50_flushes", figures.acknowledged > 0 ? figures.p50_ms / delay_ms : kNone},
                     {"primary_change_count", after.epoch - before.epoch}};
}

}  // namespace search::lab
