// A file mapped read-only whose pages may go while it is in use: another process truncates it, or
// its disk fails. The kernel then sends SIGBUS to the thread that reads such a page; here the rest
// of the mapping, from that page to its end, becomes zeros instead, and the file says that it lost
// them. Whoever reads zeros finds them out by bounds or checksums; who gives an answer on them asks
// CheckUnchanged first.
//
//   read ─► page is gone ─► SIGBUS ─► the range is known: zeros are mapped, the read goes on
//                                └─► it is not: the handler before this one, or the end
//
// The handler takes no lock, allocates nothing, and finds the range in an array of atomics; it is
// set with the first file, and again if another handler has replaced it since. Threads that read
// mapped files must not block SIGBUS: the kernel ends the process then.
//
// Threads: immutable; any thread may read and check.
// Errors: as file.h; RESOURCE_EXHAUSTED also if kMappedFilesMax files are mapped.
// Limits: kMappedFilesMax files at a time. One descriptor for each, by which it is checked.
//   A system call that is passed lost bytes fails with EFAULT.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kMappedFilesMax = 8192;

class MappedFile {
 public:
  // An empty file gives empty bytes.
  static StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const;

  // True once a page could not be read. Pages that were lost stay zeros.
  bool has_lost_pages() const;

  // DATA_LOSS if pages were lost, or if size or time of change of the file are not those it had
  // when it was opened: files that are mapped are replaced as a whole and never written.
  // Cost: one system call, fstat. Writes through a shared mapping show in the time of change only
  // when the kernel next makes the page clean, and decay in memory or on the disk never does.
  Status CheckUnchanged() const;

 private:
  struct Mapping;
  explicit MappedFile(std::unique_ptr<Mapping> mapping);

  std::unique_ptr<Mapping> mapping_;  // null: moved from
};

}  // namespace neptune
