// Writes a file that is either complete under its name or absent: temporary name, sync, rename.
//
// Threads: thread-compatible.
// Errors: kUnavailable writing failed (the message names the file and the system's reason).
// Limits: constant memory.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace search::tools {

enum class Packing { kNone, kGzip, kZstd };

// kZstd for names that end in .zst, kGzip for .gz, else kNone.
Packing PackingOfName(std::string_view path);

class FileSink {
 public:
  virtual ~FileSink() = default;

  virtual neptune::Status Write(std::string_view bytes) = 0;

  // Ends the file, syncs it and gives it its name; nothing may be written afterwards. A sink
  // destroyed without a successful Commit leaves no file.
  virtual neptune::Status Commit() = 0;
};

// Creates missing folders of `path`. `level` is the packer's own scale.
neptune::StatusOr<std::unique_ptr<FileSink>> CreateFileSink(const std::string& path,
                                                            Packing packing, int level = 3);

// Writes `bytes` as a whole file, unpacked.
neptune::Status WriteWholeFile(const std::string& path, std::string_view bytes);

// Makes the entries of a folder (renames in it) durable.
neptune::Status SyncFolder(const std::string& folder);

}  // namespace search::tools
