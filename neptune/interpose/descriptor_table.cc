#include "neptune/interpose/descriptor_table.h"

#include <fcntl.h>
#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/interpose/forked_child.h"
#include "neptune/interpose/libc.h"

namespace neptune::interpose {

std::atomic<DescriptorChunk*> descriptor_chunks[kDescriptorCountMax / kDescriptorsInChunk];

namespace {

// Chunks are never freed, because descriptors are looked up without a lock.
Descriptor* FindOrMake(int number) {
  if (number < 0 || number >= kDescriptorCountMax) return nullptr;
  std::atomic<DescriptorChunk*>& place = descriptor_chunks[number / kDescriptorsInChunk];
  DescriptorChunk* chunk = place.load(std::memory_order_acquire);
  if (chunk == nullptr) {
    auto made = std::unique_ptr<DescriptorChunk[]>(new DescriptorChunk[1]);
    if (place.compare_exchange_strong(chunk, made.get(), std::memory_order_acq_rel)) {
      chunk = made.release();
    }
  }
  return &(*chunk)[number % kDescriptorsInChunk];
}

}  // namespace

// The watches of one kernel thread's loop. They end with the thread, so a later close does not
// access a destroyed loop.
class LoopWatches {
 public:
  ~LoopWatches() {
    for (const auto& weak : watches_) {
      if (const auto watch = weak.lock()) Remove(watch);
    }
  }

  void Add(const std::shared_ptr<DescriptorWatch>& watch) {
    if (watches_.size() >= size_to_sweep_) {
      std::erase_if(watches_, [](const auto& weak) { return weak.expired(); });
      size_to_sweep_ = std::max(kSizeToSweepMin, 2 * watches_.size());
    }
    watches_.push_back(watch);
  }

 private:
  static constexpr size_t kSizeToSweepMin = 64;

  static void Remove(const std::shared_ptr<DescriptorWatch>& watch) {
    Descriptor* const descriptor = FindOrMake(watch->number());
    LeafLock lock(&descriptor->mutex_);
    std::erase(descriptor->watches_, watch);
  }

  std::vector<std::weak_ptr<DescriptorWatch>> watches_;
  size_t size_to_sweep_ = kSizeToSweepMin;
};

namespace {

__attribute__((tls_model("initial-exec"))) thread_local LoopWatches loop_watches;

}  // namespace

std::shared_ptr<const Dependency> OpenFile::dependency() {
  LeafLock lock(&mutex_);
  return dependency_;
}

void OpenFile::SetDependency(std::shared_ptr<const Dependency> dependency) {
  LeafLock lock(&mutex_);
  dependency_.swap(dependency);
}

Descriptor::State Descriptor::StateOf(const OpenFile& file) {
  if (file.ships) return State::kShips;
  return file.parks ? State::kParks : State::kBlocks;
}

bool Descriptor::PrepareToPark(int number) {
  LeafLock lock(&mutex_);
  if (file_ == nullptr) return false;
  if (!file_->parks.exchange(true)) {
    const int flags = RealLibc().fcntl(number, F_GETFL);
    if (flags >= 0) RealLibc().fcntl(number, F_SETFL, flags | O_NONBLOCK);
  }
  state_.store(State::kParks, std::memory_order_release);
  return true;
}

std::shared_ptr<OpenFile> Descriptor::file() {
  LeafLock lock(&mutex_);
  return file_;
}

Descriptor::Watched Descriptor::WatchHere(int number, For purpose) {
  Loop& loop = *Loop::Current();
  LeafLock lock(&mutex_);
  if (file_ == nullptr || (purpose == For::kCall && file_->nonblocking)) return {file_, nullptr};
  return {file_, FindOrMakeWatch(number, loop)};
}

std::shared_ptr<DescriptorWatch> Descriptor::FindOrMakeWatch(int number, Loop& loop) {
  for (const auto& watch : watches_) {
    if (&watch->loop() == &loop) return watch;
  }
  auto watch = std::make_shared<DescriptorWatch>(loop, number);
  const Status status = loop.readiness()->Watch(number, watch);
  if (!status.ok()) {
    LOG_EVERY_N(WARNING, 1000) << "a call blocks its kernel thread: " << status;
    return nullptr;
  }
  loop_watches.Add(watch);
  watches_.push_back(watch);
  return watch;
}

void Descriptor::Clear(int number) {
  state_.store(State::kUntracked, std::memory_order_release);
  for (const auto& watch : std::exchange(watches_, {})) DescriptorWatch::CloseSoon(watch);
  file_ = nullptr;
}

void Track(int number, std::shared_ptr<OpenFile> file) {
  Descriptor* const descriptor = FindOrMake(number);
  if (descriptor == nullptr) return;
  LeafLock lock(&descriptor->mutex_);
  descriptor->Clear(number);
  const Descriptor::State state = Descriptor::StateOf(*file);
  descriptor->file_ = std::move(file);
  descriptor->state_.store(state, std::memory_order_release);
}

void Untrack(int number) {
  Descriptor* const descriptor = FindTracked(number);
  if (descriptor == nullptr) return;
  if (IsForkedChild()) {  // all waiters are in the parent
    descriptor->state_.store(Descriptor::State::kUntracked, std::memory_order_release);
    return;
  }
  LeafLock lock(&descriptor->mutex_);
  descriptor->Clear(number);
}

void UntrackRange(unsigned first, unsigned last) {
  last = std::min(last, static_cast<unsigned>(kDescriptorCountMax - 1));
  for (unsigned number = first; number <= last; ++number) {
    if (descriptor_chunks[number / kDescriptorsInChunk].load() == nullptr) {
      number |= kDescriptorsInChunk - 1;  // skip the whole chunk
    } else {
      Untrack(static_cast<int>(number));
    }
  }
}

void TrackDuplicate(int number, int copy) {
  Descriptor* const descriptor = FindTracked(number);
  if (descriptor == nullptr) return;
  if (auto file = descriptor->file()) Track(copy, std::move(file));
}

}  // namespace neptune::interpose
