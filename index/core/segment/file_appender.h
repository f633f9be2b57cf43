// A new file, written sequentially through a buffer.
//
// Writes files.
// Threads: thread-compatible.
// Errors: UNAVAILABLE with the path and the system's reason. The first error is kept and turns
//   later calls into no-ops, so that callers may check once, at Close.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace search::index {

class FileAppender {
 public:
  FileAppender() = default;
  ~FileAppender();
  FileAppender(const FileAppender&) = delete;
  FileAppender& operator=(const FileAppender&) = delete;

  // Creates or truncates the file.
  neptune::Status Create(const std::string& path);
  void Append(std::string_view bytes);
  // Overwrites bytes already appended.
  void WriteAt(uint64_t offset, std::string_view bytes);
  // Writes the buffered bytes, and syncs the file to disk if `durable`.
  neptune::Status Close(bool durable);

  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  const neptune::Status& status() const { return status_; }

 private:
  void Flush();
  void Write(std::string_view bytes, uint64_t offset);
  void Fail(std::string_view doing);

  std::string path_;
  int descriptor_ = -1;
  std::string buffer_;
  uint64_t flushed_ = 0;
  uint64_t size_ = 0;
  neptune::Status status_;
};

}  // namespace search::index
