#include "neptune/thread/thread_specific.h"

#include <glog/logging.h>

#include <atomic>

#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

std::atomic<int> key_count{0};

}  // namespace

ThreadSpecificKey::ThreadSpecificKey() : index_(key_count.fetch_add(1)) {
  CHECK(index_ < kThreadSpecificKeyCountMax) << "too many thread-specific keys";
}

void* ThreadSpecificKey::Get() const {
  const std::vector<void*>& values = UserThread::Current()->specific_;
  return static_cast<size_t>(index_) < values.size() ? values[index_] : nullptr;
}

void ThreadSpecificKey::Set(void* value) const {
  std::vector<void*>& values = UserThread::Current()->specific_;
  if (values.size() <= static_cast<size_t>(index_)) values.resize(index_ + 1, nullptr);
  values[index_] = value;
}

}  // namespace neptune
