// Table of the program's descriptors: their state as the program sees it, and their waiters.
//
//   descriptor ──► Descriptor, one for each number, never freed
//                    ├──► OpenFile, shared by duplicates: blocking mode, timeouts, dependency
//                    └──► DescriptorWatch, one for each loop whose user-level threads waited for it
//
// Only descriptors that a user-level thread opened are tracked. A tracked descriptor is made
// non-blocking before the first call that could wait; the program still sees the mode that it set.
//
// Source: [Chu05] V.C (a table, filled when a file handle is made; sockets set asynchronous).
// Departs from source: descriptors that are not tracked stay as they were opened.
// Threads: thread-safe. Closing a descriptor in use is as well defined as in the system: waits for
//   it end (kClosed), and later calls may act on another file with the same number.
// Units: timeouts are SO_RCVTIMEO's and SO_SNDTIMEO's; zero: none.
// Limits: descriptors from kDescriptorCountMax on are not tracked.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"
#include "neptune/interpose/call_permit.h"
#include "neptune/interpose/descriptor_watch.h"

namespace neptune::interpose {

inline constexpr int kDescriptorCountMax = 1 << 20;

struct OpenFile {
  std::atomic<bool> nonblocking{false};  // as the program set it
  std::atomic<bool> parks{false};        // non-blocking in the system
  std::atomic<Duration> receive_timeout{Duration(0)};
  std::atomic<Duration> send_timeout{Duration(0)};
  bool ships = false;  // its calls run on helper threads; set before it is tracked

  // Dependency of its calls; null: none.
  std::shared_ptr<const Dependency> dependency();
  void SetDependency(std::shared_ptr<const Dependency> dependency);

 private:
  LeafMutex mutex_;
  std::shared_ptr<const Dependency> dependency_ ABSL_GUARDED_BY(mutex_);
};

class Descriptor {
 public:
  // True if its calls park user-level threads; false until PrepareToPark.
  bool parks() const { return state_.load(std::memory_order_acquire) == State::kParks; }
  // True if its calls run on helper threads.
  bool ships() const { return state_.load(std::memory_order_acquire) == State::kShips; }
  // True if its calls need PrepareToPark before they can park.
  bool blocks() const { return state_.load(std::memory_order_acquire) == State::kBlocks; }
  bool tracked() const { return state_.load(std::memory_order_acquire) != State::kUntracked; }
  // Makes it non-blocking in the system. False: no longer tracked.
  bool PrepareToPark(int number);
  // Null: no longer tracked.
  std::shared_ptr<OpenFile> file();
  // The file, and the watch for user-level threads of the calling loop. The watch is null if the
  // system cannot poll the descriptor, and for a call on one that the program set non-blocking.
  enum class For { kCall, kPoll };
  struct Watched {
    std::shared_ptr<OpenFile> file;
    std::shared_ptr<DescriptorWatch> watch;
  };
  Watched WatchHere(int number, For purpose);

 private:
  friend void Track(int, std::shared_ptr<OpenFile>);
  friend void Untrack(int);
  friend class LoopWatches;
  enum class State : uint8_t { kUntracked, kBlocks, kParks, kShips };
  static State StateOf(const OpenFile& file);

  std::shared_ptr<DescriptorWatch> FindOrMakeWatch(int number, Loop& loop)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends all waits. Called before the number can name another file.
  void Clear(int number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<State> state_{State::kUntracked};
  LeafMutex mutex_;
  std::shared_ptr<OpenFile> file_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<DescriptorWatch>> watches_ ABSL_GUARDED_BY(mutex_);
};

inline constexpr int kDescriptorsInChunk = 256;
using DescriptorChunk = Descriptor[kDescriptorsInChunk];
extern std::atomic<DescriptorChunk*> descriptor_chunks[kDescriptorCountMax / kDescriptorsInChunk];

// Null if not tracked. Cost: two loads.
inline Descriptor* FindTracked(int number) {
  if (number < 0 || number >= kDescriptorCountMax) return nullptr;
  DescriptorChunk* const chunk =
      descriptor_chunks[number / kDescriptorsInChunk].load(std::memory_order_acquire);
  if (chunk == nullptr) return nullptr;
  Descriptor* const descriptor = &(*chunk)[number % kDescriptorsInChunk];
  return descriptor->tracked() ? descriptor : nullptr;
}

// Starts to track `number` as a descriptor of `file`.
void Track(int number, std::shared_ptr<OpenFile> file);
// Must be called before `number` is closed or reused. No effect if it is not tracked.
void Untrack(int number);
void UntrackRange(unsigned first, unsigned last);
// Tracks `copy`, a new duplicate of `number`.
void TrackDuplicate(int number, int copy);

}  // namespace neptune::interpose
