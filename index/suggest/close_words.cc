#include "index/suggest/close_words.h"

#include <algorithm>
#include <array>

#include "index/core/analysis/unicode.h"
#include "index/suggest/deletion_keys.h"

namespace search::index {
namespace {

// Fills `out` with at most `count_max` code points and returns their number in the text, at most
// count_max + 1.
size_t Decode(std::string_view utf8, size_t count_max, char32_t* out) {
  size_t count = 0;
  while (!utf8.empty()) {
    if (count == count_max) return count + 1;
    if (static_cast<uint8_t>(utf8.front()) < 0x80) {
      out[count++] = static_cast<char32_t>(utf8.front());
      utf8.remove_prefix(1);
      continue;
    }
    const unicode::Decoded decoded = unicode::Decode(utf8);
    out[count++] = static_cast<char32_t>(decoded.code_point);
    utf8.remove_prefix(decoded.size);
  }
  return count;
}

using Letters = std::array<char32_t, kSpelledWordMax + kEditsMax + 1>;

// The distance of two words if it is at most `distance_max`, else more than that.
class BandedDistance {
 public:
  // REQUIRES: 1 <= wanted_size <= kSpelledWordMax.
  BandedDistance(const Letters& wanted, size_t wanted_size, size_t distance_max)
      : wanted_(wanted), size_(wanted_size), distance_max_(distance_max) {
    for (size_t j = 0; j <= size_; ++j) rows_[0][j] = static_cast<uint8_t>(std::min(j, kFar));
  }

  size_t Of(const Letters& word, size_t word_size) {
    if (word_size > size_ + distance_max_ || size_ > word_size + distance_max_) return kFar;
    for (size_t i = 1; i <= word_size; ++i) {
      if (FillRow(word, i) > distance_max_) return kFar;
    }
    return rows_[word_size][size_];
  }

 private:
  // Any distance above the allowed one.
  static constexpr size_t kFar = kEditsMax + 1;
  static constexpr size_t kRows = kSpelledWordMax + kEditsMax + 1;
  using Row = std::array<uint8_t, kSpelledWordMax + 2>;

  // Fills the row of the first `i` letters within the band; returns its minimum.
  size_t FillRow(const Letters& word, size_t i) {
    const Row& last = rows_[i - 1];
    Row& row = rows_[i];
    const size_t first = i > distance_max_ ? i - distance_max_ : 1;
    const size_t end = std::min(size_, i + distance_max_);
    row[first - 1] = static_cast<uint8_t>(first == 1 ? std::min(i, kFar) : kFar);
    size_t least = row[first - 1];
    for (size_t j = first; j <= end; ++j) {
      size_t cell = last[j - 1] + (word[i - 1] == wanted_[j - 1] ? 0U : 1U);
      cell = std::min({cell, last[j] + size_t{1}, row[j - 1] + size_t{1}});
      if (i > 1 && j > 1 && word[i - 1] == wanted_[j - 2] && word[i - 2] == wanted_[j - 1]) {
        cell = std::min(cell, rows_[i - 2][j - 2] + size_t{1});
      }
      row[j] = static_cast<uint8_t>(std::min(cell, kFar));
      least = std::min<size_t>(least, row[j]);
    }
    row[end + 1] = kFar;
    return least;
  }

  const Letters& wanted_;
  const size_t size_;
  const size_t distance_max_;
  std::array<Row, kRows> rows_;
};

// Numbers of the words that share a key with `folded`, ascending, each once.
std::vector<size_t> WordsThatShareAKey(const SpellingDictionary& dictionary,
                                       std::string_view folded, uint32_t distance_max) {
  std::vector<size_t> words;
  std::vector<uint64_t> keys;
  DeletionKeys(folded, distance_max, &keys);
  for (const uint64_t key : keys) {
    dictionary.ForEachWithKey(key, [&](size_t word) { words.push_back(word); });
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace

std::vector<CloseWord> FindCloseWords(const SpellingDictionary& dictionary, std::string_view folded,
                                      uint32_t distance_max) {
  std::vector<CloseWord> found;
  distance_max = std::min(distance_max, kEditsMax);
  Letters wanted;
  const size_t wanted_size = Decode(folded, kSpelledWordMax, wanted.data());
  if (wanted_size == 0 || wanted_size > kSpelledWordMax || distance_max == 0) return found;
  if (distance_max > 1 && wanted_size < kTwoEditsMin) return found;
  BandedDistance distance(wanted, wanted_size, distance_max);
  Letters letters;
  for (const size_t word : WordsThatShareAKey(dictionary, folded, distance_max)) {
    const size_t count = Decode(dictionary.word(word), letters.size() - 1, letters.data());
    if (count >= letters.size()) continue;
    const size_t edits = distance.Of(letters, count);
    if (edits <= distance_max) found.push_back({word, static_cast<uint32_t>(edits)});
  }
  return found;
}

uint32_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<char32_t> s(a.size() + 1);
  std::vector<char32_t> t(b.size() + 1);
  const size_t n = Decode(a, a.size(), s.data());
  const size_t m = Decode(b, b.size(), t.data());
  std::vector<std::vector<uint32_t>> rows(n + 1, std::vector<uint32_t>(m + 1));
  for (size_t i = 0; i <= n; ++i) rows[i][0] = static_cast<uint32_t>(i);
  for (size_t j = 0; j <= m; ++j) rows[0][j] = static_cast<uint32_t>(j);
  for (size_t i = 1; i <= n; ++i) {
    for (size_t j = 1; j <= m; ++j) {
      const uint32_t replaced = rows[i - 1][j - 1] + (s[i - 1] == t[j - 1] ? 0 : 1);
      rows[i][j] = std::min({replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && s[i - 1] == t[j - 2] && s[i - 2] == t[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[n][m];
}

}  // namespace search::index
