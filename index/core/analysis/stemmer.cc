#include "index/core/analysis/stemmer.h"

#include <glog/logging.h>
#include <libstemmer.h>

#include <bit>
#include <cstring>

namespace search::index {

namespace {

// Multiplicative mixing of the two halves; the high bits pick the entry.
uint64_t Hash(const std::array<uint64_t, 2>& word) {
  const uint64_t mixed = (word[0] ^ std::rotl(word[1], 23)) * 0x9E3779B97F4A7C15u;
  return (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9u;
}

}  // namespace

EnglishStemmer::EnglishStemmer(size_t cache_size) : snowball_(sb_stemmer_new("english", "UTF_8")) {
  CHECK(snowball_ != nullptr) << "libstemmer was built without English";
  if (cache_size == 0) return;
  const size_t entries = std::bit_ceil(cache_size < 2 ? size_t{2} : cache_size);
  cache_.resize(entries);
  hash_shift_ = 64 - static_cast<unsigned>(std::countr_zero(entries));
}

EnglishStemmer::~EnglishStemmer() { sb_stemmer_delete(snowball_); }

size_t EnglishStemmer::Stem(const char* word, size_t size, char* stem) {
  if (size > kCachedWordSizeMax || cache_.empty()) return StemUncached(word, size, stem);
  std::array<uint64_t, 2> key;
  std::memcpy(key.data(), word, sizeof(key));
  Entry& entry = cache_[Hash(key) >> hash_shift_];
  // The comparison of arrays would call memcmp.
  if (((entry.word[0] ^ key[0]) | (entry.word[1] ^ key[1])) != 0) {
    std::memset(entry.stem, 0, sizeof(entry.stem));
    entry.stem_size = static_cast<uint8_t>(StemUncached(word, size, entry.stem));
    entry.word = key;
  }
  std::memcpy(stem, entry.stem, sizeof(entry.stem));
  return entry.stem_size;
}

size_t EnglishStemmer::StemUncached(const char* word, size_t size, char* stem) {
  const sb_symbol* result =
      sb_stemmer_stem(snowball_, reinterpret_cast<const sb_symbol*>(word), static_cast<int>(size));
  const int result_size = sb_stemmer_length(snowball_);
  // Snowball returns null when out of memory, and could in theory return an empty stem; keep the
  // word then.
  if (result == nullptr || result_size <= 0 || static_cast<size_t>(result_size) > size) {
    std::memcpy(stem, word, size);
    return size;
  }
  std::memcpy(stem, result, static_cast<size_t>(result_size));
  return static_cast<size_t>(result_size);
}

}  // namespace search::index
