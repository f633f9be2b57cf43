// Buffers whose bytes were sent, kept for the next ones, so that a connection needs no memory of
// its own between its writes and none is allocated for each write.
//
// Threads: thread-compatible; one for each loop.
// Limits: kCountMax buffers of at most kSizeMax bytes; others are freed.

#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace neptune {

class SpareBuffers {
 public:
  static constexpr size_t kCountMax = 16;
  static constexpr size_t kSizeMax = 128 * 1024;
  // A buffer below this size is not worth being kept: a string has as much room in itself.
  static constexpr size_t kSizeMin = 64;

  // An empty string, with the room of the buffer that was given back last.
  std::string Take() {
    if (buffers_.empty()) return {};
    std::string taken = std::move(buffers_.back());
    buffers_.pop_back();
    return taken;
  }
  void GiveBack(std::string buffer) {
    if (buffers_.size() == kCountMax || buffer.capacity() < kSizeMin ||
        buffer.capacity() > kSizeMax) {
      return;
    }
    buffer.clear();
    buffers_.push_back(std::move(buffer));
  }
  size_t count() const { return buffers_.size(); }

 private:
  std::vector<std::string> buffers_;
};

}  // namespace neptune
