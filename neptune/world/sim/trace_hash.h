// A running hash of all events of a simulation: the evidence that a seed replays a run.
//
// Each step multiplies to 128 bits and folds the two halves.
// Threads: thread-compatible.
// Limits: distinguishes runs; not secure against adversaries.

#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace neptune {

class TraceHash {
 public:
  uint64_t value() const { return state_; }

  void Add(uint64_t word) { state_ = Fold(state_ ^ word, 0x9e3779b97f4a7c15); }

  void Add(std::string_view bytes) {
    Add(bytes.size());
    while (bytes.size() >= sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, bytes.data(), sizeof(word));
      Add(word);
      bytes.remove_prefix(sizeof(word));
    }
    if (bytes.empty()) return;
    uint64_t rest = 0;
    std::memcpy(&rest, bytes.data(), bytes.size());
    Add(rest);
  }

 private:
  static uint64_t Fold(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a ^ 0xa0761d6478bd642f) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^ std::rotl(a, 31);
  }

  uint64_t state_ = 0x2d358dccaa6c78a5;
};

}  // namespace neptune
