// Counts which threads write which cache lines of the objects that a test watches: code whose
// threads share no writes must show no line that two of them write.
//
//   SharedWrites::KeepAllocations(true);  ... make what is to be watched, and warm it up ...
//   SharedWrites::KeepAllocations(false);
//   SharedWrites::Watch([&] { ... each thread does its work, one after the other ... });
//   for (const auto& line : SharedWrites::WrittenByAtLeast(2, 10)) ...
//
// A program that links this takes its memory from here while allocations are kept. While it watches
// them, this memory cannot be written: each write is a signal, is counted, and is then executed
// alone. Writes of several threads at the same time may be missed or counted twice, so the threads
// should take turns. The operating system must not write to watched memory, for instance in recv.
//
// Threads: KeepAllocations and Watch by one thread at a time. Threads that block SIGSEGV or SIGTRAP
//   must call AdmitThisThread before they write while others watch.
// Limits: kWatchedSizeMax bytes are watched; further allocations, and those above
//   kAllocationSizeMax, are ordinary ones. kRecordCountMax pairs of a line and a thread are
//   counted.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace neptune {

class SharedWrites {
 public:
  static constexpr size_t kWatchedSizeMax = size_t{256} << 20;
  static constexpr size_t kAllocationSizeMax = 32 << 10;
  static constexpr size_t kRecordCountMax = 1 << 16;
  static constexpr size_t kLineSize = 64;

  struct Line {
    uintptr_t address = 0;
    std::map<int, uint64_t> write_count;  // by thread, as the system numbers it
    std::string writer;                   // a function that wrote there
  };

  // False: the processor or a sanitizer does not allow it.
  static bool IsSupported();
  static void KeepAllocations(bool on);
  static void AdmitThisThread();
  // Counts writes while `work` runs; forgets what was counted before.
  static void Watch(const std::function<void()>& work);
  // Lines that each of at least `thread_count` threads has written `write_count` times or more.
  static std::vector<Line> WrittenByAtLeast(size_t thread_count, uint64_t write_count);
  // Lines that two threads write each time they do the work. Each does it once to warm up, while
  // allocations are kept, and `rounds` times while it is watched.
  static std::vector<Line> SharedByTwoThreads(const std::function<void()>& work, uint64_t rounds);
  // Lines as text, for messages.
  static std::string Describe(const std::vector<Line>& lines);
};

}  // namespace neptune
