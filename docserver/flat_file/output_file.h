// A new file, written from beginning to end through a buffer.
//
// Threads: thread-compatible.
// Errors: those of neptune/base/file.h.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace search::docserver {

class OutputFile {
 public:
  // Creates or empties the file.
  static neptune::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  neptune::Status Append(std::string_view bytes);
  // Flushes the buffer, makes the file durable and closes it. REQUIRES: no Append afterwards.
  neptune::Status SyncAndClose();
  // Bytes appended so far.
  uint64_t size() const { return size_; }

 private:
  OutputFile(int descriptor, std::string path);
  neptune::Status Flush();

  int descriptor_;
  std::string path_;
  std::string buffer_;
  uint64_t size_ = 0;
};

}  // namespace search::docserver
