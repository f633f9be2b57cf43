#include "index/suggest/deletion_keys.h"

#include <xxhash.h>

#include <algorithm>
#include <array>

#include "index/core/analysis/unicode.h"

namespace search::index {
namespace {

using Letters = std::array<char32_t, kDeletionPrefix>;

uint64_t KeyOf(const Letters& letters, size_t size) {
  return XXH3_64bits(letters.data(), size * sizeof(char32_t));
}

// Adds the keys of `letters` without one of those from `first` on, and of these again.
void AddShorter(const Letters& letters, size_t size, size_t first, size_t deletions_max,
                std::vector<uint64_t>* keys) {
  if (deletions_max == 0 || size == 0) return;
  for (size_t at = first; at < size; ++at) {
    Letters shorter = letters;
    std::copy(letters.begin() + static_cast<ptrdiff_t>(at) + 1,
              letters.begin() + static_cast<ptrdiff_t>(size),
              shorter.begin() + static_cast<ptrdiff_t>(at));
    keys->push_back(KeyOf(shorter, size - 1));
    AddShorter(shorter, size - 1, at, deletions_max - 1, keys);
  }
}

}  // namespace

void DeletionKeys(std::string_view word, size_t deletions_max, std::vector<uint64_t>* keys) {
  Letters letters = {};
  size_t size = 0;
  while (!word.empty() && size < kDeletionPrefix) {
    const unicode::Decoded decoded = unicode::Decode(word);
    letters[size++] = static_cast<char32_t>(decoded.code_point);
    word.remove_prefix(decoded.size);
  }
  keys->clear();
  keys->push_back(KeyOf(letters, size));
  AddShorter(letters, size, 0, deletions_max, keys);
  std::sort(keys->begin(), keys->end());
  keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
}

}  // namespace search::index
