// Replays a trace against a running cluster, open loop, and reports what it did.

#include <gflags/gflags.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/synchronization/notification.h"
#include "neptune/base/strings.h"
#include "neptune/base/time.h"
#include "neptune/world/real/real_world.h"
#include "tools/replay/event_list.h"
#include "tools/replay/goal.h"
#include "tools/replay/measurement_log.h"
#include "tools/replay/null_server.h"
#include "tools/replay/open_files.h"
#include "tools/replay/replay_plan.h"
#include "tools/replay/replay_run.h"
#include "tools/replay/report.h"
#include "tools/replay/summary.h"
#include "tools/streams/digest.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"
#include "tools/terminal/progress.h"
#include "tools/trace/trace_file.h"

DEFINE_string(trace, "", "trace to replay, for example data/traces/sample.trace.gz");
DEFINE_string(target, "http://127.0.0.1:8080",
              "http://HOST:PORT of frontends, separated by commas and used in turn, or "
              "neptune://HOST:PORT/SERVICE/PARTITION/METHOD");
DEFINE_string(report, "", "folder of the report; created if missing");
DEFINE_double(speed, 1, "times of the trace are divided by this");
DEFINE_double(rate, 0, "instead of --speed: the mean rate, in requests per second");
DEFINE_double(duration_s, 0, "replay only this many seconds of the scaled trace; 0: all");
DEFINE_bool(repeat, false, "with --duration_s: repeat a trace that is shorter");
DEFINE_double(warmup_s, 0, "seconds at the beginning that are sent but not measured");
DEFINE_string(cluster_key_file, "", "cluster key of the nodes of neptune:// targets");
DEFINE_double(timeout_s, 5, "a request that has no answer after this time counts as lost");
DEFINE_double(
    lateness_p99_ms_max, 1,
    "bound on the 99th percentile of the generator's own lateness; above it the run is invalid");
DEFINE_double(
    failover_s, 0,
    "a request that a frontend has not answered after this time, or that has no connection "
    "to it, is sent to another one, and the frontend gets no requests until it is ready; 0: "
    "no request is sent twice");
DEFINE_bool(use_cache, true, "false: bypass the query cache");
DEFINE_string(path, "",
              "path to use instead of a JSON search, to which the encoded query is "
              "appended; answers are then not parsed");
DEFINE_uint64(connections_max, 8192, "maximum number of connections");
DEFINE_string(yield, "throughput", "form of the yield function: throughput, resptime or hybrid");
DEFINE_double(deadline_s, 2, "deadline of the yield function and of quality-aware throughput");
DEFINE_string(class_yields, "gold:4,silver:2,bronze:1", "full yield of each class; 1 for others");
DEFINE_string(events, "",
              "file of events: lines SECONDS<tab>LABEL[<tab>COMMAND]; marked in the plots, "
              "and commands are run by the shell");
DEFINE_string(goal, "",
              "goal in the form that //tools:capacity takes: p50:5ms,p99:25ms,loss:0; if it is "
              "missed, the exit "
              "status is 1");
DEFINE_string(label, "", "name of the run in reports");
DEFINE_string(bad_lines, "fail", "a malformed line of the trace: fail, or count and skip");
DEFINE_bool(null_server, false,
            "instead of --target: a server in this process that answers at once, to show "
            "what the generator can do on this machine");
DEFINE_string(from, "",
              "recreate the report of this folder from its measurements; nothing is sent");

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr char kUsage[] =
    "replays a trace against a running cluster, open loop: each request is sent at its time "
    "whether or\n"
    "not earlier ones were answered, and its latency is measured from that time\n\n"
    "  bazel run //tools:replay -- --trace=data/traces/sample.trace.gz --report=/tmp/run "
    "--speed=2\n"
    "  bazel run //tools:replay -- --from=/tmp/run     report again, for instance after a full "
    "disk\n\n"
    "Exit status 0: the run is valid; 1: it is not, or it ended early, or files could not be "
    "written.";

std::atomic<bool> stop_requested{false};

Status CheckFlags() {
  if (FLAGS_trace.empty())
    return InvalidArgument("--trace is missing; it names the trace to replay");
  if (FLAGS_report.empty())
    return InvalidArgument("--report is missing; it names the folder of the report");
  if (!(FLAGS_speed > 0) || FLAGS_rate < 0 || !(FLAGS_timeout_s > 0) || !(FLAGS_deadline_s > 0)) {
    return InvalidArgument("--speed, --rate, --timeout_s and --deadline_s must be above 0");
  }
  if (FLAGS_warmup_s < 0 || FLAGS_duration_s < 0 || FLAGS_failover_s < 0) {
    return InvalidArgument("--warmup_s, --duration_s and --failover_s must not be negative");
  }
  return neptune::OkStatus();
}

StatusOr<RunSetup> MakeSetup(const std::string& trace_path) {
  RunSetup setup{.label = FLAGS_label,
                 .target = FLAGS_target,
                 .trace = std::filesystem::path(trace_path).filename().string(),
                 .warmup_s = FLAGS_warmup_s,
                 .timeout_s = FLAGS_timeout_s,
                 .lateness_p99_ms_max = FLAGS_lateness_p99_ms_max,
                 .use_cache = FLAGS_use_cache};
  NEPTUNE_ASSIGN_OR_RETURN(setup.yield.form, ParseYieldForm(FLAGS_yield));
  NEPTUNE_ASSIGN_OR_RETURN(setup.yield.full, ParseYields(FLAGS_class_yields));
  setup.yield.deadline_s = FLAGS_deadline_s;
  NEPTUNE_ASSIGN_OR_RETURN(const FileDigest digest, DigestFile(trace_path));
  setup.trace_xxh3 = digest.xxh3;
  if (!FLAGS_events.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(setup.events, ReadEventList(CallerPath(FLAGS_events)));
  }
  DescribeHost(&setup);
  return setup;
}

StatusOr<ReplayPlan> ReadPlan(const std::string& trace_path, RunSetup* setup) {
  NEPTUNE_ASSIGN_OR_RETURN(const BadLines bad_lines, ParseBadLines(FLAGS_bad_lines));
  NEPTUNE_ASSIGN_OR_RETURN(const Trace trace,
                           ReadTrace(trace_path, bad_lines, kMeasurementCountMax));
  if (trace.bad_line_count > 0) {
    std::fprintf(stderr, "replay: %s bad lines skipped; the first: %s\n",
                 WithThousands(trace.bad_line_count).c_str(), trace.first_bad_line.c_str());
  }
  if (trace.records.empty()) return InvalidArgument(trace_path, " contains no requests");
  setup->speed =
      FLAGS_rate > 0 ? SpeedForRate(trace.records, FLAGS_rate, FLAGS_duration_s) : FLAGS_speed;
  NEPTUNE_ASSIGN_OR_RETURN(ReplayPlan plan,
                           MakeReplayPlan(trace.records, {.speed = setup->speed,
                                                          .duration_s = FLAGS_duration_s,
                                                          .repeat = FLAGS_repeat}));
  setup->classes = plan.classes;
  setup->planned_count = plan.requests.size();
  setup->duration_s = static_cast<double>(plan.length_ns()) / 1e9;
  return plan;
}

ReplayOptions MakeOptions(const RunSetup& setup, MeasurementLog* log) {
  ReplayOptions options;
  options.target = {.timeout = neptune::FromSeconds(setup.timeout_s),
                    .connection_count_max = FLAGS_connections_max,
                    .use_cache = setup.use_cache,
                    .path = FLAGS_path,
                    .failover_patience = neptune::FromSeconds(FLAGS_failover_s)};
  options.loop.timeout = neptune::FromSeconds(setup.timeout_s);
  options.events = setup.events;
  options.log = log;
  options.live = stderr;
  options.stop = &stop_requested;
  return options;
}

// Prints the summary first, so that it is seen whatever becomes of the files.
Status Report(const std::string& folder, const RecordedRun& run, const RunSummary& summary) {
  std::printf("%s", SummaryText(run.setup, summary).c_str());
  std::fflush(stdout);
  const Status written = WriteReport(folder, run, summary);
  if (!written.ok()) {
    return neptune::Annotate(
        written, neptune::StrCat("the measurements are saved in ", folder, "/", kMeasurementFile,
                                 "; free some space and run again with --from=", folder));
  }
  std::printf("report: %s/report.html\n", folder.c_str());
  return neptune::OkStatus();
}

Status CheckGoal(const std::optional<Goal>& goal, const RunSummary& summary) {
  if (!goal) return neptune::OkStatus();
  const std::vector<GoalCheck> checks = goal->Check(summary);
  const std::string text = Describe(checks);
  if (!AllMet(checks)) return neptune::FailedPrecondition("the goal was not met: ", text);
  std::printf("goal met: %s\n", text.c_str());
  return neptune::OkStatus();
}

Status Conclude(const ReplayResult& result, const RunSummary& summary) {
  NEPTUNE_RETURN_IF_ERROR(result.saved);
  NEPTUNE_RETURN_IF_ERROR(result.end);
  if (!summary.valid()) return neptune::FailedPrecondition("the run is invalid: ", summary.invalid);
  return neptune::OkStatus();
}

Status ReportAnew() {
  const std::string folder = CallerPath(FLAGS_from);
  NEPTUNE_ASSIGN_OR_RETURN(const RecordedRun run,
                           ReadMeasurementLog(folder + "/" + kMeasurementFile));
  const bool complete = run.measurements.size() == run.setup.planned_count;
  return Report(folder, run, Summarize(run.setup, run.measurements, complete));
}

// A null server on a kernel thread of its own; it and its world live as long as this.
class InProcessServer {
 public:
  ~InProcessServer() {
    if (world_ != nullptr) world_->Stop();
  }

  StatusOr<neptune::Endpoint> Start() {
    world_ = neptune::MakeRealWorld({});
    NEPTUNE_ASSIGN_OR_RETURN(neptune::Loop* const loop, world_->StartLoop({.name = "null"}));
    absl::Notification done;
    Status status;
    loop->Post([&] {
      auto server =
          NullServer::Listen(*loop, {neptune::kLoopbackAddress, 0}, {.body = kNullAnswer});
      status = server.status();
      if (server.ok()) server_ = *std::move(server);
      done.Notify();
    });
    done.WaitForNotification();
    NEPTUNE_RETURN_IF_ERROR(status);
    return server_->local();
  }

 private:
  static constexpr const char* kNullAnswer =
      "{\"query\":\"\",\"coverage\":{\"quality\":1,\"tiers\":[],\"cache\":{\"outcome\":\"hit\"}},"
      "\"results\":[]}";
  std::unique_ptr<neptune::World> world_;
  std::unique_ptr<NullServer> server_;
};

Status Replay() {
  NEPTUNE_RETURN_IF_ERROR(CheckFlags());
  std::optional<Goal> goal;
  if (!FLAGS_goal.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(goal, Goal::Parse(FLAGS_goal));
  }
  InProcessServer null_server;
  if (FLAGS_null_server) {
    NEPTUNE_ASSIGN_OR_RETURN(const neptune::Endpoint endpoint, null_server.Start());
    FLAGS_target = "http://" + endpoint.ToString();
  }
  NEPTUNE_ASSIGN_OR_RETURN(const TargetAddress address, ParseTarget(FLAGS_target));
  const std::string trace_path = ProjectPath(FLAGS_trace);
  RecordedRun run;
  NEPTUNE_ASSIGN_OR_RETURN(run.setup, MakeSetup(trace_path));
  NEPTUNE_ASSIGN_OR_RETURN(const ReplayPlan plan, ReadPlan(trace_path, &run.setup));
  const std::string folder = CallerPath(FLAGS_report);
  NEPTUNE_RETURN_IF_ERROR(MakeFolder(folder));
  RaiseOpenFileLimit();
  const auto world = neptune::MakeRealWorld({});
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Loop* const loop, world->StartLoop({.name = "replay"}));
  NEPTUNE_RETURN_IF_ERROR(CheckReachable(*loop, address.servers));
  NEPTUNE_ASSIGN_OR_RETURN(const auto log, MeasurementLog::Create(folder + "/" + kMeasurementFile,
                                                                  run.setup, plan.requests.size()));
  ReplayOptions options = MakeOptions(run.setup, log.get());
  options.address = address;
  if (!FLAGS_cluster_key_file.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(neptune::ClusterKeys keys,
                             neptune::LoadClusterKeys(ProjectPath(FLAGS_cluster_key_file)));
    options.target.keys = std::make_shared<const neptune::ClusterKeys>(std::move(keys));
  }
  ReplayResult result = RunReplay(*loop, plan, options);
  world->Stop();
  if (result.saved.ok()) result.saved = log->Finish();
  run.measurements = std::move(result.measurements);
  const RunSummary summary = Summarize(run.setup, run.measurements, result.end.ok());
  std::printf("the generator used %.0f %% of a processor",
              100 * result.processor_seconds / result.elapsed_s);
  std::printf(result.held_count > 0 ? "; %llu requests waited for a connection\n\n" : "\n\n",
              static_cast<unsigned long long>(result.held_count));
  const Status reported = Report(folder, run, summary);
  NEPTUNE_RETURN_IF_ERROR(Conclude(result, summary));
  NEPTUNE_RETURN_IF_ERROR(CheckGoal(goal, summary));
  return reported;
}

Status Run() {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error of the write
  std::signal(SIGINT, [](int) { stop_requested = true; });
  std::signal(SIGTERM, [](int) { stop_requested = true; });
  return FLAGS_from.empty() ? Replay() : ReportAnew();
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(), "replay");
}
