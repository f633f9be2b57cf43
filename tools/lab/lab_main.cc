// Runs the experiments and reports whether their lines hold.

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "absl/synchronization/mutex.h"
#include "neptune/base/strings.h"
#include "tools/lab/engine/record.h"
#include "tools/lab/engine/runner.h"
#include "tools/lab/recorded_runs.h"
#include "tools/lab/registry.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"
#include "tools/terminal/progress.h"

DEFINE_string(out, "data/var/lab",
              "folder for results; each experiment writes into its own subfolder");
DEFINE_string(world, "", "sim or real; empty: the experiment's own");
DEFINE_bool(quick, false, "short form: at most a minute per experiment, wider intervals");
DEFINE_bool(smoke, false, "shortest form: a few seconds per experiment, checks the shape only");
DEFINE_int32(
    seeds, 0,
    "number of seeds; 0: the experiment's own, and in the full form more until every line is "
    "decided");
DEFINE_int32(seeds_max, 0, "the full form ends after this many seeds; 0: the experiment's own");
DEFINE_uint64(first_seed, 1, "the first of consecutive seeds");
DEFINE_string(
    recorded, "",
    "of one experiment: the file of recorded figures that a smoke run must repeat; empty: "
    "check and record use tools/lab/recorded/NAME.txt, run compares nothing");
DEFINE_int32(threads, 0, "kernel threads; 0: one per processor");

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr char kTool[] = "lab";
constexpr char kUsage[] =
    "Reproduces the experiments of the papers: prints their figures beside ours and reports\n"
    "whether the lines hold.\n"
    "\n"
    "  bazel run //tools:lab -- list\n"
    "  bazel run //tools:lab -- run lb_polling --quick --out=results\n"
    "  bazel run //tools:lab -- run lb_polling lb_discard --seeds=10 --out=results\n"
    "  bazel run //tools:lab -- run all --quick --out=results\n"
    "  bazel run //tools:lab -- report --out=results\n"
    "  bazel run //tools:lab -- check all      # simulated figures are as recorded\n"
    "  bazel run //tools:lab -- record all     # renews tools/lab/recorded\n"
    "\n"
    "Exit status: 0 if every line holds, 1 if one is missed or a run failed, 2 for wrong "
    "arguments,\n"
    "3 if no line is missed and one is not decided.";
constexpr int kNotDecidedStatus = 3;
constexpr char kRecordedFolder[] = "tools/lab/recorded";

StatusOr<RunOptions> OptionsFromFlags() {
  RunOptions options;
  if (FLAGS_world == "sim") {
    options.world = WorldKind::kSim;
  } else if (FLAGS_world == "real") {
    options.world = WorldKind::kReal;
  } else if (!FLAGS_world.empty()) {
    return neptune::InvalidArgument("--world is '", FLAGS_world, "', not sim or real");
  }
  if (FLAGS_quick && FLAGS_smoke)
    return neptune::InvalidArgument("--quick and --smoke are mutually exclusive");
  if (FLAGS_seeds < 0) return neptune::InvalidArgument("--seeds is negative");
  if (FLAGS_seeds_max < 0) return neptune::InvalidArgument("--seeds_max is negative");
  options.length = FLAGS_smoke ? Length::kSmoke : FLAGS_quick ? Length::kQuick : Length::kFull;
  options.seed_count = FLAGS_seeds;
  options.seed_count_max = FLAGS_seeds_max;
  options.first_seed = FLAGS_first_seed;
  options.thread_count = FLAGS_threads;
  return options;
}

int List() {
  for (const Experiment& experiment : AllExperiments()) {
    std::string worlds;
    for (const WorldKind world : experiment.worlds) {
      neptune::StrAppend(&worlds, worlds.empty() ? "" : ",", WorldName(world));
    }
    printf("%-18s %-9s %s (%s)\n", experiment.name.c_str(), worlds.c_str(),
           experiment.title.c_str(), experiment.source.c_str());
  }
  return 0;
}

// Runs and judges with the progress on stderr; each run is in `series` at once.
StatusOr<JudgedRun> RunWithProgress(const Experiment& experiment, const RunOptions& options,
                                    SeriesFile* series) {
  tools::Progress progress({.label = experiment.name,
                            .unit = "runs",
                            .total = experiment.points(options.length).size() *
                                     static_cast<size_t>(RunCountsOf(experiment, options).least),
                            .out = stderr,
                            .clock = tools::MonotonicNanoseconds});
  StatusOr<JudgedRun> run = RunAndJudge(
      experiment, options, [&](const Point& point, uint64_t seed, const Measurement& measurement) {
        series->Add(point, seed, measurement);
        progress.Add(1);
      });
  progress.Finish();
  return run;
}

const char* SentenceOf(Verdict verdict, Length length) {
  if (verdict == Verdict::kMissed) return "short of line";
  if (verdict == Verdict::kNotDecided) return "not decided";
  return length == Length::kSmoke ? "shape only" : "the line holds";
}

void PrintDifferences(const std::string& name, const std::string& differences) {
  if (differences.empty()) {
    printf("%s: as recorded\n", name.c_str());
  } else {
    printf("%s is not as recorded; if that is intended: bazel run //tools:lab -- record %s\n%s\n",
           name.c_str(), name.c_str(), differences.c_str());
  }
  fflush(stdout);
}

// Runs an experiment, prints its table, and writes its files.
StatusOr<Verdict> RunOne(const Experiment& experiment, const RunOptions& options,
                         const std::string& out) {
  const std::string folder = StrCat(out, "/", experiment.name);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return neptune::Unavailable("creating ", folder, ": ", error.message());
  NEPTUNE_ASSIGN_OR_RETURN(SeriesFile series, SeriesFile::Create(folder + "/series.csv"));
  const int64_t begin = tools::MonotonicNanoseconds();
  StatusOr<JudgedRun> run = RunWithProgress(experiment, options, &series);
  const Status written = series.Finish();
  if (!run.ok()) return run.status();
  // Prints the table before any write can fail.
  printf("%s\n", TableText(experiment, run->judgement).c_str());
  fflush(stdout);
  NEPTUNE_RETURN_IF_ERROR(written);
  RunFacts facts;
  facts.world = options.world.value_or(experiment.worlds.front());
  facts.length = options.length;
  facts.seed_count = run->run_count;
  facts.look_count = run->look_count;
  facts.first_seed = options.first_seed;
  facts.revision = RevisionOf(tools::ProjectOutputPath("."));
  facts.took_s = static_cast<double>(tools::MonotonicNanoseconds() - begin) / 1e9;
  NEPTUNE_RETURN_IF_ERROR(WriteRecord(folder, experiment, facts, run->results, run->judgement));
  Verdict verdict = run->judgement.verdict();
  if (!FLAGS_recorded.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string differences,
                             CompareRecorded(run->results, run->judgement, FLAGS_recorded));
    if (!differences.empty()) verdict = Verdict::kMissed;
    PrintDifferences(experiment.name, differences);
  }
  printf("%s: %s after %d %s; details in %s\n\n", experiment.name.c_str(),
         SentenceOf(verdict, options.length), run->run_count, run->run_count == 1 ? "run" : "runs",
         folder.c_str());
  return verdict;
}

StatusOr<std::vector<Experiment>> Chosen(const std::vector<std::string>& names) {
  const std::vector<Experiment> all = AllExperiments();
  if (names.empty())
    return neptune::InvalidArgument("run: missing the name of an experiment; see 'lab list'");
  if (names == std::vector<std::string>{"all"}) return all;
  std::vector<Experiment> chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Experiment& one) { return one.name == name; });
    if (found == all.end()) {
      return neptune::InvalidArgument("no experiment '", name, "'; see 'lab list'");
    }
    chosen.push_back(*found);
  }
  return chosen;
}

int Run(const std::vector<std::string>& names, const std::string& out) {
  const StatusOr<RunOptions> options = OptionsFromFlags();
  if (!options.ok()) return tools::ExitStatus(options.status(), kTool);
  const StatusOr<std::vector<Experiment>> experiments = Chosen(names);
  if (!experiments.ok()) return tools::ExitStatus(experiments.status(), kTool);
  if (!FLAGS_recorded.empty() && (experiments->size() != 1 || !FLAGS_smoke)) {
    return tools::ExitStatus(
        neptune::InvalidArgument("--recorded is for a smoke run of one experiment"), kTool);
  }
  int worst = 0;
  bool is_open = false;
  for (const Experiment& experiment : *experiments) {
    const StatusOr<Verdict> verdict = RunOne(experiment, *options, out);
    if (!verdict.ok()) {
      worst = std::max(worst, tools::ExitStatus(verdict.status(), kTool));
    } else if (*verdict == Verdict::kMissed) {
      worst = std::max(worst, 1);
    } else if (*verdict == Verdict::kNotDecided) {
      is_open = true;
    }
  }
  return worst == 0 && is_open ? kNotDecidedStatus : worst;
}

// Checks or renews the recorded figures of the named experiments that have some.
int Recorded(const std::string& command, const std::vector<std::string>& names) {
  const StatusOr<std::vector<Experiment>> experiments = Chosen(names);
  if (!experiments.ok()) return tools::ExitStatus(experiments.status(), kTool);
  const std::string folder = tools::ProjectOutputPath(kRecordedFolder);
  int exit_status = 0;
  for (const Experiment& experiment : *experiments) {
    if (!RecordedForm(experiment) && names.front() == "all") continue;
    if (command == "record") {
      const Status status = Record(experiment, folder, FLAGS_threads);
      exit_status = std::max(exit_status, tools::ExitStatus(status, kTool));
      if (status.ok()) printf("%s: recorded\n", experiment.name.c_str());
      continue;
    }
    const std::string path =
        FLAGS_recorded.empty() ? RecordedPath(folder, experiment.name) : FLAGS_recorded;
    const StatusOr<std::string> differences = CheckRecorded(experiment, path, FLAGS_threads);
    if (!differences.ok()) {
      exit_status = std::max(exit_status, tools::ExitStatus(differences.status(), kTool));
      continue;
    }
    PrintDifferences(experiment.name, *differences);
    if (!differences->empty()) exit_status = std::max(exit_status, 1);
  }
  return exit_status;
}

int Report(const std::string& out) {
  const StatusOr<std::string> path = WriteReport(out);
  if (!path.ok()) return tools::ExitStatus(path.status(), kTool);
  printf("%s\n", path->c_str());
  return 0;
}

int Main(int argc, char** argv) {
  // The system's Abseil checks for lock cycles at each lock. Tests keep this check; here it only
  // takes time.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  google::InitGoogleLogging(argv[0]);
  FLAGS_logtostderr = true;
  // Simulated nodes log a warning for every fault that an experiment causes.
  FLAGS_minloglevel = google::GLOG_ERROR;
  std::vector<std::string> arguments = tools::ParseCommandLine(&argc, &argv, kUsage, __FILE__);
  const bool default_out = gflags::GetCommandLineFlagInfoOrDie("out").is_default;
  const std::string out =
      default_out ? tools::ProjectOutputPath(FLAGS_out) : tools::CallerPath(FLAGS_out);
  const std::string command = arguments.empty() ? "" : arguments.front();
  if (!arguments.empty()) arguments.erase(arguments.begin());
  if (command == "list" && arguments.empty()) return List();
  if (command == "run") return Run(arguments, out);
  if (command == "check" || command == "record") return Recorded(command, arguments);
  if (command == "report" && arguments.empty()) return Report(out);
  return tools::ExitStatus(
      neptune::InvalidArgument(
          "expected 'list', 'run NAME', 'check NAME', 'record NAME' or 'report'; see --help"),
      kTool);
}

}  // namespace
}  // namespace search::lab

int main(int argc, char** argv) { return search::lab::Main(argc, argv); }
