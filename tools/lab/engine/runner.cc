#include "tools/lab/engine/runner.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "neptune/base/strings.h"
#include "tools/lab/engine/sequence.h"

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StrCat;

struct Job {
  size_t point = 0;
  int seed_index = 0;
};

// Seed by seed, so that points with the same seed run at about the same time.
std::vector<Job> AllJobs(size_t point_count, int from, int until) {
  std::vector<Job> jobs;
  for (int seed = from; seed < until; ++seed) {
    for (size_t point = 0; point < point_count; ++point) jobs.push_back({point, seed});
  }
  return jobs;
}

// The runs with the seeds [from, until), counted from the first seed.
class Execution {
 public:
  Execution(const Experiment& experiment, const RunOptions& options, const OnRun& on_run)
      : experiment_(experiment),
        options_(options),
        on_run_(on_run),
        points_(experiment.points(options.length)) {}

  // Adds the runs to `results`.
  Status Run(int from, int until, int thread_count, Results* results) {
    jobs_ = AllJobs(points_.size(), from, until);
    measured_.assign(jobs_.size(), std::nullopt);
    reported_ = 0;
    next_ = 0;
    std::vector<std::thread> threads;
    for (int i = 1; i < thread_count; ++i) threads.emplace_back([this] { Work(); });
    Work();
    for (std::thread& thread : threads) thread.join();
    absl::MutexLock lock(&mutex_);
    NEPTUNE_RETURN_IF_ERROR(failure_);
    for (size_t i = 0; i < jobs_.size(); ++i) {
      results->Add(points_[jobs_[i].point], *std::move(measured_[i]));
    }
    return neptune::OkStatus();
  }

 private:
  void Work() {
    for (size_t i = next_++; i < jobs_.size() && !failed_; i = next_++) {
      const RunContext context = ContextOf(jobs_[i]);
      neptune::StatusOr<Measurement> measurement =
          experiment_.run(points_[jobs_[i].point], context);
      absl::MutexLock lock(&mutex_);
      if (!measurement.ok()) return Fail(jobs_[i], measurement.status());
      measured_[i] = *std::move(measurement);
      Report();
    }
  }

  RunContext ContextOf(const Job& job) const {
    return {options_.world.value_or(experiment_.worlds.front()), options_.length,
            options_.first_seed + static_cast<uint64_t>(job.seed_index)};
  }

  // Keeps the first failure in the order of jobs.
  void Fail(const Job& job, const Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    failed_ = true;
    if (!failure_.ok() && failed_job_ < &job) return;
    failed_job_ = &job;
    failure_ =
        neptune::Annotate(status, StrCat(experiment_.name, " ", points_[job.point].ToString(),
                                         " seed ", ContextOf(job).seed));
  }

  // Reports the runs that are complete and have only complete ones before them.
  void Report() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (; reported_ < jobs_.size() && measured_[reported_]; ++reported_) {
      const Job& job = jobs_[reported_];
      on_run_(points_[job.point], ContextOf(job).seed, *measured_[reported_]);
    }
  }

  const Experiment& experiment_;
  const RunOptions& options_;
  const OnRun& on_run_;
  const std::vector<Point> points_;
  std::vector<Job> jobs_;  // not changed while threads run
  std::atomic<size_t> next_{0};
  std::atomic<bool> failed_{false};
  absl::Mutex mutex_;
  std::vector<std::optional<Measurement>> measured_;  // under mutex_ while threads run
  size_t reported_ = 0;                               // as measured_
  const Job* failed_job_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Status failure_ ABSL_GUARDED_BY(mutex_);
};

Status CheckWorld(const Experiment& experiment, const RunOptions& options) {
  const WorldKind world = options.world.value_or(experiment.worlds.front());
  if (std::find(experiment.worlds.begin(), experiment.worlds.end(), world) !=
      experiment.worlds.end()) {
    return neptune::OkStatus();
  }
  return neptune::InvalidArgument(experiment.name, " does not run in the world '", WorldName(world),
                                  "'");
}

int ThreadCountOf(const Experiment& experiment, const RunOptions& options) {
  if (!experiment.parallel) return 1;
  if (options.thread_count > 0) return options.thread_count;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

std::string_view WorldName(WorldKind world) { return world == WorldKind::kSim ? "sim" : "real"; }

RunCounts RunCountsOf(const Experiment& experiment, const RunOptions& options) {
  if (options.seed_count > 0) return {options.seed_count, options.seed_count};
  const SeedCounts& seeds = experiment.seeds;
  const int least = RunContext{.length = options.length}.Pick(seeds.smoke, seeds.quick, seeds.full);
  if (options.length != Length::kFull) return {least, least};
  const int most = options.seed_count_max > 0 ? options.seed_count_max
                   : seeds.most > 0           ? seeds.most
                   : experiment.parallel      ? kMostOfFull * seeds.full
                                              : kMostOfFullReal * seeds.full;
  return {std::min(least, most), most};
}

std::optional<Experiment> RecordedForm(const Experiment& experiment) {
  if (!experiment.recorded_points && experiment.worlds.front() != WorldKind::kSim) {
    return std::nullopt;
  }
  Experiment form = experiment;
  form.worlds = {WorldKind::kSim};
  if (experiment.recorded_points) {
    form.points = [points = experiment.recorded_points](Length) { return points(); };
  }
  return form;
}

neptune::StatusOr<JudgedRun> RunAndJudge(const Experiment& experiment, const RunOptions& options,
                                         const OnRun& on_run) {
  NEPTUNE_RETURN_IF_ERROR(CheckWorld(experiment, options));
  const RunCounts counts = RunCountsOf(experiment, options);
  Execution execution(experiment, options, on_run);
  Results results(options.length);
  int run_count = 0;
  int look_count = 0;
  for (const Look& look : PlanLooks(counts.least, counts.most)) {
    NEPTUNE_RETURN_IF_ERROR(
        execution.Run(run_count, look.run_count, ThreadCountOf(experiment, options), &results));
    run_count = look.run_count;
    ++look_count;
    Results seen = results.WithMiss(look.miss);
    Judgement judgement(options.length, run_count);
    experiment.judge(seen, &judgement);
    if (IsWorthMoreRuns(judgement, run_count, counts.most)) continue;
    return JudgedRun{std::move(seen), std::move(judgement), run_count, look_count};
  }
  return neptune::Internal("a run of ", counts.most, " seeds has no last look");
}

neptune::StatusOr<Results> RunExperiment(const Experiment& experiment, const RunOptions& options,
                                         const OnRun& on_run) {
  NEPTUNE_RETURN_IF_ERROR(CheckWorld(experiment, options));
  Results results(options.length);
  NEPTUNE_RETURN_IF_ERROR(Execution(experiment, options, on_run)
                              .Run(0, RunCountsOf(experiment, options).least,
                                   ThreadCountOf(experiment, options), &results));
  return results;
}

}  // namespace search::lab
