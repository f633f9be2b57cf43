// 64-bit XXH3 checksums of byte strings. They detect damage; they are not for security.
//
// Threads: pure functions.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace neptune {

// Returns the checksum of `bytes`. To checksum a whole in ordered parts, pass the previous part's
// checksum as `seed`.
uint64_t Checksum64(std::string_view bytes, uint64_t seed = 0);

// Checksum64 of bytes that arrive in pieces.
class RunningChecksum64 {
 public:
  explicit RunningChecksum64(uint64_t seed);
  ~RunningChecksum64();
  RunningChecksum64(const RunningChecksum64&) = delete;
  RunningChecksum64& operator=(const RunningChecksum64&) = delete;

  void Add(std::string_view bytes);
  // The checksum of all bytes so far.
  uint64_t value() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// Returns the lower half of Checksum64, for formats with room for four bytes only.
uint32_t Checksum32(std::string_view bytes);

}  // namespace neptune
