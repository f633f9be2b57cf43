// Bytes in memory as a ByteSource, given in pieces of a chosen size; for tests of readers.
//
// Test only. Threads: thread-compatible.

#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "tools/streams/byte_source.h"

namespace search::tools {

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string bytes, size_t piece_size = 4096)
      : bytes_(std::move(bytes)), piece_size_(piece_size) {}

  neptune::StatusOr<size_t> Read(char* buffer, size_t size) override {
    const size_t taken = std::min({size, piece_size_, bytes_.size() - at_});
    std::memcpy(buffer, bytes_.data() + at_, taken);
    at_ += taken;
    return taken;
  }
  uint64_t file_position() const override { return at_; }

 private:
  const std::string bytes_;
  const size_t piece_size_;
  size_t at_ = 0;
};

}  // namespace search::tools
