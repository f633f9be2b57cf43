// Files that document stores write once and read mapped into memory.
//
// Source: none. Layer: docserver. Threads: thread-compatible; a MappedFile's bytes may be read by
// all. Errors: NOT_FOUND no such file or directory; UNAVAILABLE whatever else the file system
// refuses. Limits: a mapped file must not be made shorter while it is mapped: reading past its end
// stops the
//   process. Sealed stores are never written again, so only damage by hand does that.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace search::docserver {

// The status of errno after `action` on `path` failed.
neptune::Status ErrnoStatus(std::string_view action, std::string_view path);

// A new file, written from beginning to end through a buffer.
class OutputFile {
 public:
  // Creates or empties the file.
  static neptune::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  neptune::Status Append(std::string_view bytes);
  // Writes the buffer out, makes the file durable and closes it. REQUIRES: no Append after it.
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

// A whole file, read-only, mapped.
class MappedFile {
 public:
  static neptune::StatusOr<std::unique_ptr<MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, size_t size) : data_(data), size_(size) {}

  const char* data_;
  size_t size_;
};

// Makes the names in a directory durable.
neptune::Status SyncDirectory(const std::string& directory);

// After it `path` holds `bytes`, durably; at no time does it hold a part of them.
neptune::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace search::docserver
