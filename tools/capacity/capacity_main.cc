// Finds the highest rate at which a running cluster meets a goal.

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/base/time.h"
#include "neptune/world/real/real_world.h"
#include "tools/capacity/capacity_search.h"
#include "tools/replay/goal.h"
#include "tools/replay/open_files.h"
#include "tools/replay/replay_plan.h"
#include "tools/replay/replay_run.h"
#include "tools/replay/report.h"
#include "tools/replay/summary.h"
#include "tools/streams/digest.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"
#include "tools/trace/trace_file.h"

DEFINE_string(goal, "", "the goal to meet, for instance p99:200ms,coverage:0.99,loss:0.001");
DEFINE_string(trace, "",
              "trace of requests, sent at the rate of the trial; repeated if it is too short");
DEFINE_string(target, "http://127.0.0.1:8080",
              "where requests go, in the form that //tools:replay takes");
DEFINE_double(trial_s, 10, "seconds of a trial, without its warm-up");
DEFINE_double(warmup_s, 2, "seconds of warm-up before each trial, not measured");
DEFINE_double(rate_start, 10, "rate of the first trial, requests a second");
DEFINE_double(rate_max, 20'000, "highest rate tried");
DEFINE_double(precision, 0.05, "relative distance between the answer and the lowest failing rate");
DEFINE_int32(confirmations, 3, "number of consecutive trials that confirm the answer");
DEFINE_double(timeout_s, 5, "a request that has no answer after this time counts as lost");
DEFINE_double(lateness_p99_ms_max, 1,
              "bound on the generator's own lateness; a trial above it fails");
DEFINE_bool(use_cache, true, "false: bypass the query cache");
DEFINE_string(report, "", "folder for the report of the last confirming trial; empty: none");

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr char kUsage[] =
    "finds the highest rate at which a running cluster meets a goal, and confirms it\n\n"
    "  bazel run //tools:capacity -- --goal=p99:200ms,coverage:0.99 "
    "--trace=data/traces/sample.trace.gz\n\n"
    "Figures of a goal: p50 p90 p95 p99 p99.9 mean max (at most), loss (at most), coverage, yield "
    "(at\n"
    "least); prefix one with CLASS. for a service class. Latency counts from the time at which a "
    "request was due.";

struct Trial {
  RecordedRun run;
  RunSummary summary;
  std::vector<GoalCheck> checks;
  // If the generator was late, it measured itself; the trial fails.
  bool met() const { return summary.valid() && AllMet(checks); }
};

class Trials {
 public:
  Trials(neptune::Loop& loop, TargetAddress address, Trace trace, RunSetup setup, Goal goal)
      : loop_(loop),
        address_(std::move(address)),
        trace_(std::move(trace)),
        setup_(std::move(setup)),
        goal_(std::move(goal)) {}

  StatusOr<Trial> Run(double rate) const {
    Trial trial;
    RunSetup& setup = trial.run.setup = setup_;
    setup.speed = SpeedForRate(trace_.records, rate, FLAGS_warmup_s + FLAGS_trial_s);
    NEPTUNE_ASSIGN_OR_RETURN(
        const ReplayPlan plan,
        MakeReplayPlan(
            trace_.records,
            {.speed = setup.speed, .duration_s = FLAGS_warmup_s + FLAGS_trial_s, .repeat = true}));
    setup.classes = plan.classes;
    setup.planned_count = plan.requests.size();
    setup.duration_s = static_cast<double>(plan.length_ns()) / 1e9;
    ReplayOptions options{.address = address_};
    options.target = {.timeout = neptune::FromSeconds(FLAGS_timeout_s),
                      .use_cache = FLAGS_use_cache};
    options.loop.timeout = options.target.timeout;
    ReplayResult result = RunReplay(loop_, plan, options);
    NEPTUNE_RETURN_IF_ERROR(result.end);
    trial.run.measurements = std::move(result.measurements);
    trial.summary = Summarize(setup, trial.run.measurements, true);
    trial.checks = goal_.Check(trial.summary);
    return trial;
  }

 private:
  neptune::Loop& loop_;
  const TargetAddress address_;
  const Trace trace_;
  const RunSetup setup_;
  const Goal goal_;
};

void Show(double rate, const Trial& trial, bool confirming) {
  std::printf("%10.1f /s  %-8s %s%s%s%s\n", rate, trial.met() ? "met" : "NOT MET",
              Describe(trial.checks).c_str(), confirming ? "  (confirming)" : "",
              trial.summary.valid() ? "" : "; ", trial.summary.invalid.c_str());
  std::fflush(stdout);
}

StatusOr<CapacityOptions> SearchOptions() {
  const CapacityOptions options{.rate_start = FLAGS_rate_start,
                                .rate_min = std::min(0.1, FLAGS_rate_start),
                                .rate_max = FLAGS_rate_max,
                                .precision = FLAGS_precision,
                                .confirmations = FLAGS_confirmations};
  if (!(FLAGS_rate_start > 0) || !(FLAGS_rate_max >= FLAGS_rate_start) || !(FLAGS_precision > 0) ||
      FLAGS_confirmations < 1 || !(FLAGS_trial_s > 0) || FLAGS_warmup_s < 0) {
    return InvalidArgument(
        "--rate_start, --rate_max, --precision, --confirmations and --trial_s must be "
        "above 0, and --rate_start at most --rate_max");
  }
  return options;
}

StatusOr<RunSetup> CommonSetup(const std::string& trace_path) {
  RunSetup setup{.label = "capacity",
                 .target = FLAGS_target,
                 .trace = FLAGS_trace,
                 .warmup_s = FLAGS_warmup_s,
                 .timeout_s = FLAGS_timeout_s,
                 .lateness_p99_ms_max = FLAGS_lateness_p99_ms_max,
                 .use_cache = FLAGS_use_cache};
  NEPTUNE_ASSIGN_OR_RETURN(const FileDigest digest, DigestFile(trace_path));
  setup.trace_xxh3 = digest.xxh3;
  DescribeHost(&setup);
  return setup;
}

Status Conclude(const CapacitySearch& search, const Trial& last) {
  if (!search.capacity()) {
    return neptune::FailedPrecondition("the goal was not met and confirmed at any rate tried");
  }
  std::printf("\ncapacity: %s%.1f requests a second, met %d times in a row\n",
              search.at_rate_max() ? "at least " : "", *search.capacity(), FLAGS_confirmations);
  std::printf("%s", SummaryText(last.run.setup, last.summary).c_str());
  if (FLAGS_report.empty()) return neptune::OkStatus();
  const std::string folder = CallerPath(FLAGS_report);
  NEPTUNE_RETURN_IF_ERROR(MakeFolder(folder));
  return WriteReport(folder, last.run, last.summary);
}

Status Find(const Trials& trials, const CapacityOptions& options) {
  CapacitySearch search(options);
  Trial last;
  while (search.Next()) {
    const double rate = *search.Next();
    const bool confirming = search.confirming();
    NEPTUNE_ASSIGN_OR_RETURN(Trial trial, trials.Run(rate));
    Show(rate, trial, confirming);
    search.Record(trial.met());
    if (trial.met()) last = std::move(trial);
  }
  return Conclude(search, last);
}

Status Run() {
  if (FLAGS_trace.empty())
    return InvalidArgument("--trace is missing; it names the requests to send");
  NEPTUNE_ASSIGN_OR_RETURN(Goal goal, Goal::Parse(FLAGS_goal));
  NEPTUNE_ASSIGN_OR_RETURN(const CapacityOptions options, SearchOptions());
  NEPTUNE_ASSIGN_OR_RETURN(TargetAddress address, ParseTarget(FLAGS_target));
  const std::string trace_path = ProjectPath(FLAGS_trace);
  NEPTUNE_ASSIGN_OR_RETURN(Trace trace, ReadTrace(trace_path, BadLines::kFail));
  if (trace.records.empty()) return InvalidArgument(trace_path, " contains no requests");
  NEPTUNE_ASSIGN_OR_RETURN(RunSetup setup, CommonSetup(trace_path));
  RaiseOpenFileLimit();
  const auto world = neptune::MakeRealWorld({});
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Loop* const loop, world->StartLoop({.name = "capacity"}));
  NEPTUNE_RETURN_IF_ERROR(CheckReachable(*loop, address.servers));
  const Trials trials(*loop, std::move(address), std::move(trace), std::move(setup),
                      std::move(goal));
  const Status status = Find(trials, options);
  world->Stop();
  return status;
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Run(), "capacity");
}
