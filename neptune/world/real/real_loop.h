// One kernel thread with its poller; internal to world/real.
//
// Threads: see Loop; Run is the kernel thread's body.

#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/world/random_source.h"
#include "neptune/world/real/descriptor_poller.h"
#include "neptune/world/real/long_task.h"
#include "neptune/world/real/spare_buffers.h"
#include "neptune/world/real/tick_clock.h"
#include "neptune/world/real/timer_queue.h"
#include "neptune/world/world.h"

namespace neptune {

class BackgroundThreads;
class RealNetwork;

// A turn runs, one after the other: tasks of other threads and due timers; what descriptors report.
// Tasks of this thread run after each of the two. Each part may take this long before the others
// get theirs. A task that takes longer is the last of its part.
inline constexpr Duration kPartOfTurnMax = std::chrono::milliseconds(1);

class RealLoop final : public Loop {
 public:
  // `background` has the threads of all background loops, and outlives them; null: this is none.
  RealLoop(const LoopOptions& options, uint64_t seed, BackgroundThreads* background = nullptr);
  ~RealLoop() override;

  TimePoint Now() const override;
  TimePoint TurnTime() const override { return part_began_; }
  Duration ProcessorTime() const override;
  void Post(Task task) override;
  TimerId RunAt(TimePoint when, Task task) override;
  bool CancelTimer(TimerId timer) override;
  Network& network() override;
  RandomSource& random() override { return random_; }
  void FillUnpredictable(char* bytes, size_t size) override;
  DescriptorReadiness* readiness() override { return descriptor_poller_.get(); }

  void Start();
  // Ends Run after the current turn and joins the kernel thread. Idempotent.
  void Stop();
  bool OnThisThread() const { return std::this_thread::get_id() == thread_.get_id(); }

  // Called after the loop has waited, too: the time of waiting belongs to no part.
  void BeginPart() {
    part_began_ = Now();
    NoteTask(part_began_);
  }
  // True if the running part of the turn has had its time: what can go on later must do so. Called
  // between tasks.
  bool PartIsOver() {
    const TimePoint now = Now();
    NoteTask(now);
    return now - part_began_ >= kPartOfTurnMax;
  }

  DescriptorPoller& descriptor_poller() { return *descriptor_poller_; }
  // Scratch space for one read; its contents are valid until the next read of this loop.
  std::array<char, 64 * 1024>& read_buffer() { return *read_buffer_; }
  // Buffers of bytes that were sent, for those that come next.
  SpareBuffers& spare_buffers() { return spare_buffers_; }

 private:
  void Run();
  // A task ends here, or begins, or both.
  void NoteTask(TimePoint now) {
    if (background_ == nullptr) return;
    task_.Begin(now);
    if (task_.has_stepped_back()) [[unlikely]]
      ReturnToOthers();
  }
  void ReturnToOthers();
  // Fetches events of descriptors, waiting for them only if nothing is left to do here.
  void FetchEvents();
  // Return whether there was something to run.
  bool RunForeignTasks();
  bool RunDueTimers();
  void RunLocalTasks();
  void FinishPart();

  const LoopOptions options_;
  BackgroundThreads* const background_;
  LongTask task_;
  TimePoint part_began_{};
  TimePoint poll_at_{};  // when descriptors are next asked although the loop has other work
  const bool ticks_are_steady_;
  mutable TickClock clock_;  // used on the loop's thread only
  RandomSource random_;
  TimerQueue timers_;
  std::deque<Task> local_tasks_;
  LeafMutex foreign_mutex_;
  std::vector<Task> foreign_tasks_ ABSL_GUARDED_BY(foreign_mutex_);
  std::atomic<bool> has_foreign_tasks_{false};
  std::atomic<bool> is_waiting_{false};  // or about to wait: other threads must wake it
  std::vector<Task> fetched_tasks_;      // foreign tasks that are being run
  size_t next_fetched_ = 0;
  std::unique_ptr<std::array<char, 64 * 1024>> read_buffer_;
  SpareBuffers spare_buffers_;
  std::unique_ptr<DescriptorPoller> descriptor_poller_;
  std::unique_ptr<RealNetwork> network_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace neptune
