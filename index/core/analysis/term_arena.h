// Memory for the terms of one Analyze call: appended, never moved, forgotten all at once.
//
// Threads: thread-compatible.

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace search::index {

class TermArena {
 public:
  // Room for `size` bytes at a place that stays. REQUIRES: size <= kChunkSize.
  char* Room(size_t size) {
    if (static_cast<size_t>(limit_ - cursor_) < size) NextChunk();
    return cursor_;
  }
  // Keeps the first `size` bytes of the last Room.
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
