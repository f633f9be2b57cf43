// Memory for the terms of one Analyze call: append-only, never moved, released all at once.
//
// Threads: thread-compatible.

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace search::index {

class TermArena {
 public:
  // Space for `size` bytes at a stable address. REQUIRES: size <= kChunkSize.
  char* Room(size_t size) {
    if (static_cast<size_t>(limit_ - cursor_) < size) NextChunk();
    return cursor_;
  }
  // Keeps the first `size` bytes returned by the last call of Room.
  void Keep(size_t size) { cursor_ += size; }

  // Discards all terms and reuses their memory.
  void Reset() {
    used_ = 0;
    cursor_ = limit_ = nullptr;
  }

 private:
  static constexpr size_t kChunkSize = size_t{64} << 10;

  void NextChunk() {
    if (used_ == chunks_.size()) chunks_.push_back(std::make_unique<char[]>(kChunkSize));
    cursor_ = chunks_[used_++].get();
    limit_ = cursor_ + kChunkSize;
  }

  std::vector<std::unique_ptr<char[]>> chunks_;
  size_t used_ = 0;
  char* cursor_ = nullptr;
  char* limit_ = nullptr;
};

}  // namespace search::index
