#include "index/html/text_signature.h"

#include <xxhash.h>

#include <array>
#include <string>

namespace search::html {
namespace {

// Bytes of a word that count, so that a text without spaces is bounded too.
constexpr size_t kWordSizeMax = 64;

char WordByte(char c) {
  const auto byte = static_cast<uint8_t>(c);
  if (byte >= 'A' && byte <= 'Z') return static_cast<char>(byte + 32);
  const bool is_word = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte >= 0x80;
  return is_word ? c : '\0';
}

// Sums of the bits of all sequences' hashes.
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
    for (size_t bit = 0; bit < 64; ++bit) sums_[bit] += (hash >> bit & 1) != 0 ? 1 : -1;
  }

  uint64_t Signature() const {
    if (count_ < kSignatureWordsMin) return 0;
    uint64_t signature = 0;
    for (size_t bit = 0; bit < 64; ++bit) {
      if (sums_[bit] > 0) signature |= uint64_t{1} << bit;
    }
    return signature == 0 ? 1 : signature;
  }

 private:
  size_t count_ = 0;
  std::array<uint64_t, kSignatureSequence> hashes_ = {};
  std::array<int64_t, 64> sums_ = {};
};

}  // namespace

uint64_t TextSignature(std::string_view text) {
  Accumulator accumulator;
  std::string word;
  for (const char c : text) {
    if (const char byte = WordByte(c); byte != '\0') {
      if (word.size() < kWordSizeMax) word += byte;
    } else if (!word.empty()) {
      accumulator.AddWord(word);
      word.clear();
    }
  }
  if (!word.empty()) accumulator.AddWord(word);
  return accumulator.Signature();
}

}  // namespace search::html
