#include "neptune/world/real/real_world.h"

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "neptune/base/blocking_mutex.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/world/real/background_threads.h"
#include "neptune/world/real/emulated_processors.h"
#include "neptune/world/real/helper_threads.h"
#include "neptune/world/real/host_load.h"
#include "neptune/world/real/host_resources.h"
#include "neptune/world/real/real_loop.h"

namespace neptune {
namespace {

// Uses the machine's processors by spinning.
class RealProcessors final : public Processors {
 public:
  void Execute(Loop& loop, Duration cost, Task done) override {
    const TimePoint until = loop.Now() + cost;
    while (loop.Now() < until) {
    }
    done();
  }
  int count() const override {
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }
  bool models_time() const override { return false; }
};

std::unique_ptr<Processors> MakeProcessors(int emulated_count) {
  if (emulated_count > 0) return std::make_unique<EmulatedProcessors>(emulated_count);
  return std::make_unique<RealProcessors>();
}

uint64_t RandomSeed() {
  std::random_device device;  // returns 32 bits
  return uint64_t{device()} << 32 | device();
}

class RealWorld final : public World {
 public:
  RealWorld(const RealWorldOptions& options, std::unique_ptr<DurableStorage> storage)
      : options_(options),
        seed_(options.seed != 0 ? options.seed : RandomSeed()),
        storage_(std::move(storage)),
        processors_(MakeProcessors(options.emulated_processor_count)) {}
  ~RealWorld() override { Stop(); }

  StatusOr<Loop*> StartLoop(const LoopOptions& options) override {
    LeafLock lock(&mutex_);
    if (stopped_) return Cancelled("starting loop ", options.name, ": the world has stopped");
    if (loops_.size() >= kLoopCountMax) {
      return ResourceExhausted("starting loop ", options.name, ": ", loops_.size(), " loops run");
    }
    auto loop = std::make_unique<RealLoop>(
        options, seed_ + loops_.size(),
        options.priority == LoopPriority::kBackground ? &background_ : nullptr);
    try {
      loop->Start();
    } catch (const std::system_error& error) {
      return ResourceExhausted("starting loop ", options.name, ": ", error.what());
    }
    loops_.push_back(std::move(loop));
    return loops_.back().get();
  }

  // A loop's task may be starting another loop, so no loop is joined while holding the mutex that
  // StartLoop takes.
  void Stop() override {
    BlockingLock stop_lock(&stop_mutex_);
    {
      LeafLock lock(&mutex_);
      stopped_ = true;
    }
    for (const auto& loop : StartedLoops()) {
      CHECK(!loop->OnThisThread()) << "a world is not stopped from one of its loops";
      loop->Stop();
    }
  }

  std::unique_ptr<HelperThreads> MakeHelperThreads(const std::string& name, int count) override {
    return MakeRealHelperThreads(name, count);
  }

  Processors& processors() override { return *processors_; }

  DurableStorage& storage() override {
    CHECK(storage_ != nullptr) << "this world was made without storage";
    return *storage_;
  }

  WallTime wall_time() const override {
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(
                std::chrono::system_clock::now().time_since_epoch())
                .count()};
  }

  HostLoad SampleLoad() override { return load_.Sample(); }

  HostResources resources() const override {
    return {.memory_size = MemorySize(), .descriptor_limit = descriptor_limit_};
  }

 private:
  std::vector<RealLoop*> StartedLoops() {
    LeafLock lock(&mutex_);
    std::vector<RealLoop*> loops;
    for (const auto& loop : loops_) loops.push_back(loop.get());
    return loops;
  }

  const RealWorldOptions options_;
  const uint64_t seed_;
  const size_t descriptor_limit_ = RaiseDescriptorLimit();
  const std::unique_ptr<DurableStorage> storage_;
  const std::unique_ptr<Processors> processors_;
  LoadSampler load_;
  BackgroundThreads background_;
  BlockingMutex stop_mutex_;  // held during Stop; acquired before mutex_
  LeafMutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<RealLoop>> loops_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<World> MakeRealWorldOver(const RealWorldOptions& options,
                                         std::unique_ptr<DurableStorage> storage) {
#ifdef NDEBUG
  // The system's Abseil is built with deadlock detection at each lock and each mutex destruction,
  // under one lock for the whole process. That is for tests: the simulated world and debug builds
  // keep it.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
  return std::make_unique<RealWorld>(options, std::move(storage));
}

}  // namespace neptune
