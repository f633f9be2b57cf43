#include "neptune/thread/thread_specific.h"

#include <glog/logging.h>

#include <array>
#include <atomic>
#include <utility>

#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

std::atomic<int> key_count{0};

using AtEnd = void (*)(void* value);
std::array<std::atomic<AtEnd>, kThreadSpecificKeyCountMax> at_ends;

}  // namespace

ThreadSpecificKey::ThreadSpecificKey(AtEnd at_end) : index_(key_count.fetch_add(1)) {
  CHECK(index_ < kThreadSpecificKeyCountMax) << "too many thread-specific keys";
  if (at_end == nullptr) return;
  at_ends[index_].store(at_end, std::memory_order_release);
  UserThread::end_specific_.store(&EndSpecific, std::memory_order_release);
}

void ThreadSpecificKey::EndSpecific(UserThread& thread) {
  // A destructor may create more values.
  for (size_t i = 0; i < thread.specific_.size(); ++i) {
    const AtEnd at_end = at_ends[i].load(std::memory_order_acquire);
    void* const value = at_end == nullptr ? nullptr : std::exchange(thread.specific_[i], nullptr);
    if (value != nullptr) at_end(value);
  }
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
