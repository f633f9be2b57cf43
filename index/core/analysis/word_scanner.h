// Scans a text for words and folds them; the only place that implements the segmentation rules.
//
// The rules are in README.md.
// Threads: thread-compatible.
// Limits: keeps kTermSizeMax bytes of a word; any word takes linear time and constant memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "index/core/analysis/analyzer.h"
#include "index/core/analysis/unicode.h"

namespace search::index {

class WordScanner {
 public:
  // ascii_fast_path: off only for the test that checks that it gives the same words.
  explicit WordScanner(std::string_view text, bool ascii_fast_path = true)
      : text_(text), ascii_fast_path_(ascii_fast_path) {}

  // Moves to the next word; false at the end of the text.
  bool Next();

  // The word, valid until Next: folded, at most kTermSizeMax bytes, cut at a character boundary. 16
  // bytes can be read whatever its size; those past its end are zero.
  const char* word() const { return word_; }
  size_t word_size() const { return word_size_; }
  // True if the word consists of ASCII letters and apostrophes only and was not cut.
  bool is_ascii_word() const { return is_ascii_word_; }
  // True if the word's term is its stem; otherwise it is the word.
  bool has_stem() const {
    return is_ascii_word_ && word_size_ >= kStemmedWordSizeMin && word_size_ <= kStemmedWordSizeMax;
  }
  size_t begin_byte() const { return begin_; }
  size_t end_byte() const { return end_; }

 private:
  static constexpr size_t kStemmedWordSizeMin = 3;
  // Maximal number of code points read from a word; canonical ordering and composition are limited
  // to them.
  static constexpr size_t kCodePointCountMax = 256;

  // Punctuation after the word so far that may belong to it.
  struct Glue {
    size_t size = 0;    // number of bytes that belong to the word
    bool ends = false;  // true if they end it
  };
  // Properties of the word so far.
  struct Shape {
    bool ends_in_ascii_letter = false;
    bool is_numeric = false;  // digits and points only
    bool is_ascii_letter = false;
  };
  Glue GlueAt(size_t at, const Shape& shape) const;

  // Each scans the word that begins at begin_ and moves at_ past it. ScanAscii leaves at_ unchanged
  // and returns kNotAscii if ScanUnicode must decide; ScanUnicode is false if no word begins here.
  enum class Scan : uint8_t { kWord, kNotAscii };
  Scan ScanAscii();
  bool ScanUnicode();
  void FinishUnicode();
  enum class Append : uint8_t { kAdded, kIgnored, kWordEnds };
  Append AppendFolded(int32_t code_point);
  void Push(int32_t folded, unicode::WordPart part);
  void PushGlue(size_t at, size_t size);

  std::string_view text_;
  bool ascii_fast_path_;
  size_t at_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
  char word_[kTermSizeMax + 16] = {};
  size_t word_size_ = 0;
  bool is_ascii_word_ = false;
  // State of ScanUnicode: the word so far, its last code point, its last that is not a mark.
  int32_t code_points_[kCodePointCountMax];
  size_t count_ = 0;
  int32_t last_ = 0;
  int32_t base_ = 0;
  bool base_is_ideograph_ = false;
  bool is_numeric_ = false;
  std::string utf8_;
};

}  // namespace search::index
