// One kernel thread with its poller; internal to world/real.
//
// Threads: see Loop; Run is the kernel thread's body.

#pragma once

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/world/random_source.h"
#include "neptune/world/real/descriptor_poller.h"
#include "neptune/world/real/timer_queue.h"
#include "neptune/world/world.h"

namespace neptune {

class RealNetwork;

class RealLoop final : public Loop {
 public:
  RealLoop(const LoopOptions& options, uint64_t seed);
  ~RealLoop() override;

  TimePoint Now() const override;
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

  boost::asio::io_context& io() { return io_; }
  DescriptorPoller& descriptor_poller() { return *descriptor_poller_; }
  // Scratch space for one read; its contents are valid until the next read of this loop.
  std::array<char, 64 * 1024>& read_buffer() { return *read_buffer_; }

 private:
  void Run();
  void RunReadyOrWait();
  void RunForeignTasks();
  void RunLocalTasks();
  void RunDueTimers();
  void ArmTimer();

  const LoopOptions options_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> keep_running_;
  boost::asio::steady_timer os_timer_;
  TimePoint os_timer_at_ = kNever;
  RandomSource random_;
  TimerQueue timers_;
  std::deque<Task> local_tasks_;
  LeafMutex foreign_mutex_;
  std::vector<Task> foreign_tasks_ ABSL_GUARDED_BY(foreign_mutex_);
  std::vector<Task> spare_tasks_;  // empty; its capacity is reused for the next foreign tasks
  std::unique_ptr<std::array<char, 64 * 1024>> read_buffer_;
  std::unique_ptr<DescriptorPoller> descriptor_poller_;
  std::unique_ptr<RealNetwork> network_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace neptune
