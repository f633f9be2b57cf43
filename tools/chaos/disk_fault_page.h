// The page of memory through which a tool sets the faults of a process's files while that runs, and
// reads what happened: a file that both map. README.md describes its bytes.
//
// Threads: thread-safe and lock-free.
// Units: microseconds, nanoseconds, parts per million.
// Limits: kFlushedFileCountMax files are known by what of them was flushed; then `is_full` is set
//   and unknown files count as flushed.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace search::chaos {

inline constexpr uint64_t kDiskFaultMagic = 0x324b534944544c46;  // "FLTDISK2"
inline constexpr size_t kFlushedFileCountMax = 16'384;
inline constexpr uint64_t kTrueSpace = UINT64_MAX;
// A file that was opened so that each write of it is flushed.
inline constexpr uint64_t kAlwaysFlushed = UINT64_MAX;

// Environment of the process: the paths of the page and of the folder whose files have faults.
inline constexpr char kDiskFaultPageVariable[] = "DISK_FAULT_PAGE";
inline constexpr char kDiskFaultFolderVariable[] = "DISK_FAULT_FOLDER";

struct FlushedFile {
  std::atomic<uint64_t> inode{0};  // 0: free
  std::atomic<uint64_t> size{0};   // its size when its last flush began
};

struct DiskFaultPage {
  std::atomic<uint64_t> magic{kDiskFaultMagic};
  // Set by the tool.
  std::atomic<uint64_t> flush_delay_us{0};
  std::atomic<uint64_t> read_error_ppm{0};
  std::atomic<int64_t> clock_offset_ns{0};  // added to the wall clock
  // Written by the process.
  std::atomic<uint64_t> flush_count{0};
  std::atomic<uint64_t> flushing_count{0};  // under way
  std::atomic<uint64_t> read_error_count{0};
  std::atomic<uint64_t> is_full{0};
  // Set by the tool: the free bytes that the file system reports; kTrueSpace: the true ones.
  std::atomic<uint64_t> free_space{kTrueSpace};
  FlushedFile files[kFlushedFileCountMax];

  // The place of a file, or a free one that is taken for it; null if all are taken.
  FlushedFile* Find(uint64_t inode) {
    for (size_t i = 0; i < kFlushedFileCountMax; ++i) {
      FlushedFile& file = files[(inode * 0x9e3779b97f4a7c15 + i) % kFlushedFileCountMax];
      uint64_t found = file.inode.load();
      if (found == 0 && file.inode.compare_exchange_strong(found, inode)) return &file;
      if (found == inode) return &file;
    }
    is_full.store(1);
    return nullptr;
  }
};

static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace search::chaos
