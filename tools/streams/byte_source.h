// Reads a file's bytes, unpacked if it is gzip, bzip2 or zstd, also of several members one after
// another; the format is found by its first bytes.
//
// Threads: thread-compatible.
// Units: sizes in bytes of unpacked data.
// Errors: kNotFound no such file, kDataLoss damaged or truncated compression, kUnavailable reading
//   failed. Every message names the file.
// Limits: constant memory; a zstd window of at most 128 MiB.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/status.h"

namespace search::tools {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads at most `size` bytes into `buffer`; 0 means the end. REQUIRES: size > 0.
  virtual neptune::StatusOr<size_t> Read(char* buffer, size_t size) = 0;

  // Bytes read from the file so far, before unpacking; for progress.
  virtual uint64_t file_position() const = 0;
};

// Opens `path`; "-" is standard input.
neptune::StatusOr<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path);

// The whole unpacked content. Errors: kResourceExhausted if it is larger than `size_max`.
neptune::StatusOr<std::string> ReadWholeFile(const std::string& path, size_t size_max);

}  // namespace search::tools
