// English stems, with a cache of recent words: Snowball takes about a microsecond per word, the
// cache a few nanoseconds.
//
// Source: M. F. Porter, the Snowball English stemmer (libstemmer).
// Threads: thread-compatible.
// Limits: words of at most kStemmedWordSizeMax bytes; the table is direct-mapped and never grows.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct sb_stemmer;

namespace search::index {

class EnglishStemmer {
 public:
  // Words of at most this many bytes are cached.
  static constexpr size_t kCachedWordSizeMax = 15;

  // cache_size: entries, rounded up to a power of two; 0 = no table.
  explicit EnglishStemmer(size_t cache_size);
  ~EnglishStemmer();
  EnglishStemmer(const EnglishStemmer&) = delete;
  EnglishStemmer& operator=(const EnglishStemmer&) = delete;

  // Writes the stem of `word` (lower-case ASCII letters and apostrophes) to `stem` and returns its
  // size: at least 1 and at most `size`. REQUIRES: 1 <= size <= kStemmedWordSizeMax; 16 bytes of
  // `word` can be read and 16 bytes of `stem` written whatever the size; bytes of `word` from
  // `size` to 16 are zero.
  size_t Stem(const char* word, size_t size, char* stem);

 private:
  struct Entry {
    std::array<uint64_t, 2> word = {0, 0};
    char stem[kCachedWordSizeMax] = {};
    uint8_t stem_size = 0;
  };
  static_assert(sizeof(Entry) == 32);

  size_t StemUncached(const char* word, size_t size, char* stem);

  sb_stemmer* snowball_;
  std::vector<Entry> cache_;
  unsigned hash_shift_ = 0;
};

}  // namespace search::index
