// Whole files: mapped read-only, read into memory under a bound, replaced atomically.
//
// Threads: MappedFile is immutable; the functions may be called from any thread. All of them block
//   the kernel thread: a loop calls them only while it starts or stops.
// Errors: NOT_FOUND no such file or folder; RESOURCE_EXHAUSTED over size_max, or no space, memory
//   or descriptors left; FAILED_PRECONDITION not permitted or of the wrong kind; UNAVAILABLE
//   anything else. Every message names the path.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace neptune {

// The status for an errno value: "ACTION PATH: text of the error".
Status ErrnoStatus(int error, std::string_view action, std::string_view path);

inline constexpr size_t kMappedFilesMax = 8192;

// A file mapped read-only whose pages may go while it is in use: another process truncates it, or
// its disk fails. The kernel then sends SIGBUS to the thread that reads such a page; here the rest
// of the mapping, from that page to its end, becomes zeros instead, and the file says that it lost
// them. Readers find zeros out by bounds or checksums, and ask CheckUnchanged before they give an
// answer that rests on what they read.
//
//   read ─► page is gone ─► SIGBUS ─► the range is known: zeros are mapped, the read goes on
//                                └─► it is not: the handler before this one, or the end
//
// The handler takes no lock, allocates nothing, and finds the range in an array of atomics; it is
// set with the first file, and again if another handler has replaced it since. Threads that read
// mapped files must not block SIGBUS: the kernel ends the process then.
//
// Immutable; any thread may read and check. At most kMappedFilesMax files are mapped at a time,
// else RESOURCE_EXHAUSTED; each keeps a descriptor. A system call that is passed lost bytes fails
// with EFAULT.
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

// Returns the contents of the file, at most size_max bytes. Also works for files whose size the
// system does not report (/proc).
StatusOr<std::string> ReadFile(const std::string& path, size_t size_max);

// Who may read a written file: everyone, or its owner only, for files that hold secrets.
enum class FileReaders { kEveryone, kOwner };

// Replaces the contents of `path` by `bytes`. After a crash at any moment the file holds either its
// old contents or the new ones; after OK it holds the new ones. The bytes are first written to a
// new file in the same directory, which a crash may leave there as PATH.XXXXXX. The mode of the new
// file does not depend on the umask or on the old file; with kOwner it is 600 from its creation.
Status WriteFileAtomically(const std::string& path, std::string_view bytes,
                           FileReaders readers = FileReaders::kEveryone);

// Makes the creation, renaming and removal of the folder's files durable.
Status SyncDirectory(const std::string& path);

}  // namespace neptune
