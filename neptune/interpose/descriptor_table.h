// What the program believes of its descriptors, and who waits for them.
//
//   descriptor ──► Descriptor, one for each number, for good
//                    ├──► OpenFile: what duplicates share: is it blocking, its timeouts, what it depends on
//                    └──► DescriptorWatch, one for each loop whose user-level threads waited for it
//
// Only descriptors that a user-level thread opened are tracked. A tracked one is made non-blocking underneath before
// the first call that could wait; the program goes on to see what it set itself.
//
// Source: [Chu05] V.C (a table, filled when a file handle is made; sockets set asynchronous).
// Departs from source: all else stays as it was opened.
// Threads: thread-safe. A descriptor that is closed while others use it is as well defined as in the system: what
//   waits for it ends (kClosed), what comes later may meet another file.
// Units: timeouts are SO_RCVTIMEO's and SO_SNDTIMEO's; zero: none.
// Limits: kDescriptorCountMax; descriptors beyond are not tracked.

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
  std::atomic<bool> parks{false};        // non-blocking underneath
  std::atomic<Duration> receive_timeout{Duration(0)};
  std::atomic<Duration> send_timeout{Duration(0)};
  bool ships = false;  // its calls are made on helper threads; before it is tracked

  // What its calls depend on; null: nothing.
  std::shared_ptr<const Dependency> dependency();
  void SetDependency(std::shared_ptr<const Dependency> dependency);

 private:
  LeafMutex mutex_;
  std::shared_ptr<const Dependency> dependency_ ABSL_GUARDED_BY(mutex_);
};

class Descriptor {
 public:
  // Whether its calls park user-level threads; false until PrepareToPark.
  bool parks() const { return state_.load(std::memory_order_acquire) == State::kParks; }
  // Whether its calls are made on helper threads.
  bool ships() const { return state_.load(std::memory_order_acquire) == State::kShips; }
  // Whether its calls would have to park, but for PrepareToPark.
  bool blocks() const { return state_.load(std::memory_order_acquire) == State::kBlocks; }
  bool tracked() const { return state_.load(std::memory_order_acquire) != State::kUntracked; }
  // Makes it non-blocking underneath. False: it is not tracked any more.
  bool PrepareToPark(int number);
  // Null: it is not tracked any more.
  std::shared_ptr<OpenFile> file();
  // As file(), and what the user-level threads of the calling loop wait with. That is null if the system cannot watch
  // it, and for a call on one that is non-blocking to the program.
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

// Null if it is not tracked. Cost: two loads.
inline Descriptor* FindTracked(int number) {
  if (number < 0 || number >= kDescriptorCountMax) return nullptr;
  DescriptorChunk* const chunk =
      descriptor_chunks[number / kDescriptorsInChunk].load(std::memory_order_acquire);
  if (chunk == nullptr) return nullptr;
  Descriptor* const descriptor = &(*chunk)[number % kDescriptorsInChunk];
  return descriptor->tracked() ? descriptor : nullptr;
}

// From now on `number` names `file`.
void Track(int number, std::shared_ptr<OpenFile> file);
// It is about to be closed, or to name something else. Without effect on one that is not tracked.
void Untrack(int number);
void UntrackRange(unsigned first, unsigned last);
// `copy` is a new duplicate of `number`.
void TrackDuplicate(int number, int copy);

}  // namespace neptune::interpose
