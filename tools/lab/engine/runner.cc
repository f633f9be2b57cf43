#include "tools/lab/engine/runner.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "neptune/base/strings.h"

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StrCat;

struct Job {
  size_t point = 0;
  int seed_index = 0;
};

// Seed by seed, so that points with the same seed run at about the same time.
std::vector<Job> AllJobs(size_t point_count, int seed_count) {
  std::vector<Job> jobs;
  for (int seed = 0; seed < seed_count; ++seed) {
    for (size_t point = 0; point < point_count; ++point) jobs.push_back({point, seed});
  }
  return jobs;
}

class Execution {
 public:
  Execution(const Experiment& experiment, const RunOptions& options, WorldKind world,
            const OnRun& on_run)
      : experiment_(experiment),
        options_(options),
        world_(world),
        on_run_(on_run),
        points_(experiment.points(options.length)),
        seed_count_(SeedCount(experiment, options)),
        jobs_(AllJobs(points_.size(), seed_count_)),
        measured_(jobs_.size()) {}

  neptune::StatusOr<Results> Run(int thread_count) {
    std::vector<std::thread> threads;
    for (int i = 1; i < thread_count; ++i) threads.emplace_back([this] { Work(); });
    Work();
    for (std::thread& thread : threads) thread.join();
    absl::MutexLock lock(&mutex_);
    if (!failure_.ok()) return failure_;
    Results results(options_.length);
    for (size_t i = 0; i < jobs_.size(); ++i) {
      results.Add(points_[jobs_[i].point], std::move(measured_[i]));
    }
    return results;
  }

 private:
  void Work() {
    for (size_t i = next_++; i < jobs_.size() && !failed_; i = next_++) {
      const Point& point = points_[jobs_[i].point];
      RunContext context{world_, options_.length,
                         options_.first_seed + static_cast<uint64_t>(jobs_[i].seed_index)};
      neptune::StatusOr<Measurement> measurement = experiment_.run(point, context);
      absl::MutexLock lock(&mutex_);
      if (!measurement.ok()) {
        failed_ = true;
        if (failure_.ok()) {
          failure_ = neptune::Annotate(
              measurement.status(),
              StrCat(experiment_.name, " ", point.ToString(), " seed ", context.seed));
        }
        return;
      }
      on_run_(point, context.seed, *measurement);
      measured_[i] = *std::move(measurement);
    }
  }

  const Experiment& experiment_;
  const RunOptions& options_;
  const WorldKind world_;
  const OnRun& on_run_;
  const std::vector<Point> points_;
  const int seed_count_;
  const std::vector<Job> jobs_;
  std::vector<Measurement> measured_;  // each element by the thread that took its job
  std::atomic<size_t> next_{0};
  std::atomic<bool> failed_{false};
  absl::Mutex mutex_;
  Status failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::string_view WorldName(WorldKind world) { return world == WorldKind::kSim ? "sim" : "real"; }

int SeedCount(const Experiment& experiment, const RunOptions& options) {
  if (options.seed_count > 0) return options.seed_count;
  const SeedCounts& seeds = experiment.seeds;
  return RunContext{.length = options.length}.Pick(seeds.smoke, seeds.quick, seeds.full);
}

neptune::StatusOr<Results> RunExperiment(const Experiment& experiment, const RunOptions& options,
                                         const OnRun& on_run) {
  const WorldKind world = options.world.value_or(experiment.worlds.front());
  if (std::find(experiment.worlds.begin(), experiment.worlds.end(), world) ==
      experiment.worlds.end()) {
    return neptune::InvalidArgument(experiment.name, " does not run in the world '",
                                    WorldName(world), "'");
  }
  int thread_count = options.thread_count;
  if (thread_count <= 0) thread_count = static_cast<int>(std::thread::hardware_concurrency());
  if (!experiment.parallel) thread_count = 1;
  return Execution(experiment, options, world, on_run).Run(std::max(1, thread_count));
}

}  // namespace search::lab
