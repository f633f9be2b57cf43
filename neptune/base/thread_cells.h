// Counters that many kernel threads add to and few read.
//
//   thread 0 ─► own cells ─┐
//   thread 1 ─► own cells ─┼─► Sum
//   thread 2 ─► own cells ─┘
//
// Each kernel thread adds in cells of its own, so an addition needs no locked instruction and
// shares no cache line with other threads. It costs memory, a block of cells for each thread that
// adds, and time for Sum.
//
// Threads: thread-safe. A sum that is taken during additions has some of them and misses others; an
//   addition is in every sum that happens after it.
// Limits: kThreadNumberCount threads have cells of their own at a time; further ones share cells,
//   with locked instructions.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace neptune {

inline constexpr size_t kThreadNumberCount = 64;

namespace thread_cells_internal {

inline constexpr size_t kNoNumber = ~size_t{0};
// Initial-exec TLS, for the same reason as in neptune/world/loop.cc.
extern constinit thread_local size_t thread_number __attribute__((tls_model("initial-exec")));
size_t TakeThreadNumber();

}  // namespace thread_cells_internal

// A number of the calling kernel thread, which no other living thread has; kThreadNumberCount if
// all are taken.
inline size_t ThreadNumber() {
  const size_t number = thread_cells_internal::thread_number;
  return number != thread_cells_internal::kNoNumber ? number
                                                    : thread_cells_internal::TakeThreadNumber();
}

class ThreadCells {
 private:
  static constexpr size_t kLineCellCount = 8;
  struct alignas(64) Line {
    std::array<std::atomic<uint64_t>, kLineCellCount> cells{};
  };

 public:
  explicit ThreadCells(size_t cell_count);
  ~ThreadCells();
  ThreadCells(const ThreadCells&) = delete;
  ThreadCells& operator=(const ThreadCells&) = delete;

  // The cells of one thread, for several additions. Only on the thread that asked for it.
  class Own {
   public:
    // REQUIRES: cell < cell_count.
    void Add(size_t cell, uint64_t by = 1) const {
      std::atomic<uint64_t>& mine = lines_[cell / kLineCellCount].cells[cell % kLineCellCount];
      if (is_shared_) {
        mine.fetch_add(by, std::memory_order_relaxed);
      } else {
        mine.store(mine.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
      }
    }

   private:
    friend class ThreadCells;
    Own(Line* lines, bool is_shared) : lines_(lines), is_shared_(is_shared) {}

    Line* const lines_;
    const bool is_shared_;
  };
  Own OfThisThread() {
    const size_t thread = ThreadNumber();
    Line* block = blocks_[thread].load(std::memory_order_acquire);
    if (block == nullptr) block = MakeBlock(thread);
    return {block, thread == kThreadNumberCount};
  }
  // REQUIRES: cell < cell_count.
  void Add(size_t cell, uint64_t by = 1) { OfThisThread().Add(cell, by); }
  // Over all threads, also those that have ended; wraps around at 2^64.
  uint64_t Sum(size_t cell) const;

 private:
  Line* MakeBlock(size_t thread);

  const size_t line_count_;
  // Indexed by thread number; the last one is shared. Null: that thread has added nothing.
  std::array<std::atomic<Line*>, kThreadNumberCount + 1> blocks_{};
};

}  // namespace neptune
