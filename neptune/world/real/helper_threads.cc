#include "neptune/world/real/helper_threads.h"

#include <glog/logging.h>
#include <pthread.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <list>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "neptune/base/blocking_mutex.h"

namespace neptune {
namespace {

class RealHelperThreads final : public HelperThreads {
 public:
  RealHelperThreads(const std::string& name, int count)
      : name_(name.substr(0, 15)), count_max_(std::max(1, count)) {}

  ~RealHelperThreads() override {
    std::deque<Task> dropped;  // destroyed outside the lock: a task may own something that posts
    std::list<std::thread> threads;
    {
      BlockingLock lock(&mutex_);
      stopping_ = true;
      dropped.swap(tasks_);
      threads.swap(threads_);
      wake_.SignalAll();
    }
    Join(&threads);
    JoinEnded();
  }

  void Run(Task task) override {
    std::list<std::thread> ended;
    bool one_is_idle = false;
    {
      BlockingLock lock(&mutex_);
      ended.swap(ended_);
      tasks_.push_back(std::move(task));
      one_is_idle = idle_count_ >= tasks_.size();
      if (!one_is_idle && threads_.size() < count_max_) StartThread();
    }
    // After unlocking, so that the woken thread does not wait for the lock
    if (one_is_idle) wake_.Signal();
    Join(&ended);
  }

  void SetCount(int count) override {
    JoinEnded();
    BlockingLock lock(&mutex_);
    count_max_ = static_cast<size_t>(std::max(1, count));
    for (size_t i = idle_count_; i < tasks_.size() && threads_.size() < count_max_; ++i) {
      if (!StartThread()) break;
    }
    wake_.SignalAll();
  }

 private:
  bool StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    try {
      threads_.emplace_back();
      const auto self = std::prev(threads_.end());
      *self = std::thread([this, self] { Work(self); });
    } catch (const std::system_error& error) {
      threads_.pop_back();
      CHECK(!threads_.empty()) << "starting helper thread " << name_ << ": " << error.what();
      LOG(WARNING) << "starting helper thread " << name_ << ": " << error.what();
      return false;
    }
    return true;
  }

  void Work(std::list<std::thread>::iterator self) {
    pthread_setname_np(pthread_self(), name_.c_str());
    BlockingLock lock(&mutex_);
    while (!stopping_ && threads_.size() <= count_max_) {
      if (tasks_.empty()) {
        ++idle_count_;
        wake_.Wait(&mutex_);
        --idle_count_;
        continue;
      }
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      mutex_.Unlock();
      task();
      task = nullptr;
      mutex_.Lock();
    }
    // The destructor joins the threads it finds in the list; a thread that ends by itself is joined
    // by the next call.
    if (!stopping_) ended_.splice(ended_.end(), threads_, self);
  }

  void JoinEnded() {
    std::list<std::thread> ended;
    {
      BlockingLock lock(&mutex_);
      ended.swap(ended_);
    }
    Join(&ended);
  }
  static void Join(std::list<std::thread>* threads) {
    for (std::thread& thread : *threads) thread.join();
  }

  const std::string name_;
  BlockingMutex mutex_;
  BlockingCondition wake_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::list<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  std::list<std::thread> ended_ ABSL_GUARDED_BY(mutex_);
  size_t count_max_ ABSL_GUARDED_BY(mutex_);
  size_t idle_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<HelperThreads> MakeRealHelperThreads(const std::string& name, int count) {
  return std::make_unique<RealHelperThreads>(name, count);
}

}  // namespace neptune
