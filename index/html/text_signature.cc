#include "index/html/text_signature.h"

#include <xxhash.h>

#include <array>
#include <cstdint>

namespace search::html {
namespace {

// Bytes of a word that count, so that a text without spaces is bounded too.
constexpr size_t kWordSizeMax = 64;

// A letter in lower case, a digit or a byte of another character; 0 for what separates words.
constexpr std::array<char, 256> MakeWordBytes() {
  std::array<char, 256> bytes{};
  for (int c = 0; c < 256; ++c) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80;
    if (is_upper || is_word) bytes[c] = static_cast<char>(is_upper ? c - 'A' + 'a' : c);
  }
  return bytes;
}
constexpr std::array<char, 256> kWordBytes = MakeWordBytes();

// For each byte: eight lanes of a byte, of which lane i is bit i.
constexpr std::array<uint64_t, 256> MakeLanes() {
  std::array<uint64_t, 256> lanes{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    for (uint64_t bit = 0; bit < 8; ++bit) lanes[byte] |= (byte >> bit & 1) << (8 * bit);
  }
  return lanes;
}
constexpr std::array<uint64_t, 256> kLanes = MakeLanes();

// Counts how often each bit is set in the hashes of all sequences. The counts of the last hashes
// are lanes of a byte, eight of which are added at once.
class Accumulator {
 public:
  void AddWord(std::string_view word) {
    hashes_[count_++ % kSignatureSequence] = XXH3_64bits(word.data(), word.size());
    if (count_ < kSignatureSequence) return;
    // The words in their order, from the oldest.
    std::array<uint64_t, kSignatureSequence> sequence;
    for (size_t i = 0; i < kSignatureSequence; ++i) {
      sequence[i] = hashes_[(count_ + i) % kSignatureSequence];
    }
    const uint64_t hash = XXH3_64bits(sequence.data(), sizeof(sequence));
    for (size_t i = 0; i < lanes_.size(); ++i) lanes_[i] += kLanes[hash >> (8 * i) & 0xFF];
    ++sequence_count_;
    if (sequence_count_ % kLaneMax == 0) AddLanes();
  }

  uint64_t Signature() {
    if (count_ < kSignatureWordsMin) return 0;
    AddLanes();
    uint64_t signature = 0;
    for (size_t bit = 0; bit < ones_.size(); ++bit) {
      if (2 * ones_[bit] > sequence_count_) signature |= uint64_t{1} << bit;
    }
    return signature == 0 ? 1 : signature;
  }

 private:
  static constexpr uint64_t kLaneMax = 255;

  void AddLanes() {
    for (size_t bit = 0; bit < ones_.size(); ++bit) {
      ones_[bit] += lanes_[bit / 8] >> (8 * (bit % 8)) & 0xFF;
    }
    lanes_ = {};
  }

  size_t count_ = 0;
  std::array<uint64_t, kSignatureSequence> hashes_ = {};
  uint64_t sequence_count_ = 0;
  std::array<uint64_t, 8> lanes_ = {};
  std::array<uint64_t, 64> ones_ = {};
};

}  // namespace

uint64_t TextSignature(std::string_view text) {
  Accumulator accumulator;
  std::array<char, kWordSizeMax> word;
  size_t size = 0;
  for (const char c : text) {
    if (const char byte = kWordBytes[static_cast<uint8_t>(c)]; byte != '\0') {
      if (size < kWordSizeMax) word[size++] = byte;
    } else if (size > 0) {
      accumulator.AddWord({word.data(), size});
      size = 0;
    }
  }
  if (size > 0) accumulator.AddWord({word.data(), size});
  return accumulator.Signature();
}

}  // namespace search::html
