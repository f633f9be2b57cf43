#include "tools/lab/recorded_runs.h"

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/lab/engine/recorded.h"
#include "tools/lab/engine/runner.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

constexpr size_t kRecordedSizeMax = size_t{4} << 20;

StatusOr<JudgedRun> RunRecorded(const Experiment& experiment, int thread_count) {
  const std::optional<Experiment> form = RecordedForm(experiment);
  if (!form) return neptune::NotFound(experiment.name, " has no recorded form");
  return RunAndJudge(*form, {.length = Length::kSmoke, .thread_count = thread_count},
                     [](const Point&, uint64_t, const Measurement&) {});
}

}  // namespace

std::string RecordedPath(const std::string& folder, const std::string& name) {
  return StrCat(folder, "/", name, ".txt");
}

neptune::Status Record(const Experiment& experiment, const std::string& folder, int thread_count) {
  NEPTUNE_ASSIGN_OR_RETURN(const JudgedRun run, RunRecorded(experiment, thread_count));
  return neptune::WriteFileAtomically(
      RecordedPath(folder, experiment.name),
      StrCat("# Figures of the smoke form; renewed by: bazel run //tools:lab -- record ",
             experiment.name, "\n", RecordedText(run.results, run.judgement)));
}

StatusOr<std::string> CompareRecorded(const Results& results, const Judgement& judgement,
                                      const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string recorded, neptune::ReadFile(path, kRecordedSizeMax));
  return DifferencesFrom(recorded, RecordedText(results, judgement));
}

StatusOr<std::string> CheckRecorded(const Experiment& experiment, const std::string& path,
                                    int thread_count) {
  NEPTUNE_ASSIGN_OR_RETURN(const JudgedRun run, RunRecorded(experiment, thread_count));
  return CompareRecorded(run.results, run.judgement, path);
}

}  // namespace search::lab
