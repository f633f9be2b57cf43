// Whole files: mapped read-only, read into memory under a bound, replaced atomically.
//
// Threads: MappedFile is immutable; the functions may be called from any thread. All of them block
//   the kernel thread: a loop calls them only while it starts or stops.
// Errors: NOT_FOUND no such file or folder; RESOURCE_EXHAUSTED over size_max, or no space, memory
//   or descriptors left; FAILED_PRECONDITION not permitted or of the wrong kind; UNAVAILABLE
//   anything else. Every message names the path.
// Limits: truncating a file while it is mapped kills the process (SIGBUS), so map only files that
//   are replaced as a whole.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace neptune {

// The status for an errno value: "ACTION PATH: text of the error".
Status ErrnoStatus(int error, std::string_view action, std::string_view path);

// The bytes of a file, mapped read-only; valid while the object lives.
class MappedFile {
 public:
  // An empty file gives empty bytes.
  static StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
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
