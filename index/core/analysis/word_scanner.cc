#include "index/core/analysis/word_scanner.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "index/core/analysis/unicode.h"

namespace search::index {

namespace {

constexpr char kSeparator = 0;
constexpr char kNonAscii = 1;

// Maps each byte to its lower-case letter or digit, or to one of the two constants.
constexpr std::array<char, 256> MakeFoldTable() {
  std::array<char, 256> table{};
  for (int c = 0; c < 256; ++c) {
    if (c >= 0x80) table[c] = kNonAscii;
    if (c >= '0' && c <= '9') table[c] = static_cast<char>(c);
    if (c >= 'a' && c <= 'z') table[c] = static_cast<char>(c);
    if (c >= 'A' && c <= 'Z') table[c] = static_cast<char>(c - 'A' + 'a');
  }
  return table;
}
constexpr std::array<char, 256> kFold = MakeFoldTable();

char FoldByte(char c) { return kFold[static_cast<uint8_t>(c)]; }
bool IsLetter(char folded) { return folded >= 'a'; }
bool IsDigit(char folded) { return folded >= '0' && folded <= '9'; }

constexpr std::string_view kCurlyApostrophe = "\xE2\x80\x99";

}  // namespace

bool WordScanner::Next() {
  while (at_ < text_.size()) {
    const char first = FoldByte(text_[at_]);
    if (first == kSeparator) {
      ++at_;
      continue;
    }
    begin_ = at_;
    if (first != kNonAscii && ascii_fast_path_ && ScanAscii() == Scan::kWord) return true;
    if (ScanUnicode()) return true;
  }
  return false;
}

WordScanner::Glue WordScanner::GlueAt(size_t at, const Shape& shape) const {
  const std::string_view rest = text_.substr(at);
  const char next = rest.size() > 1 ? FoldByte(rest[1]) : kSeparator;
  switch (rest.empty() ? '\0' : rest[0]) {
    case '\'':
      if (shape.ends_in_ascii_letter && IsLetter(next)) return {1, false};
      break;
    case '\xE2':
      if (shape.ends_in_ascii_letter && rest.size() > 3 && rest.starts_with(kCurlyApostrophe) &&
          IsLetter(FoldByte(rest[3]))) {
        return {3, false};
      }
      break;
    case '.':
      if (shape.is_numeric && IsDigit(next)) return {1, false};
      break;
    case '+':
      if (shape.is_ascii_letter && rest.starts_with("++")) return {2, true};
      break;
    case '#':
      if (shape.is_ascii_letter && (next == kSeparator || IsDigit(next))) return {1, true};
      break;
    default:
      break;
  }
  return {};
}

WordScanner::Scan WordScanner::ScanAscii() {
  std::memset(word_, 0, 16);
  size_t size = 0;
  size_t at = begin_;
  bool has_other = false;  // digits, points, pluses
  while (true) {
    char folded = kSeparator;
    while (at < text_.size() && (folded = FoldByte(text_[at])) > kNonAscii) {
      if (size < kTermSizeMax) word_[size] = folded;
      has_other |= !IsLetter(folded);
      ++size;
      ++at;
    }
    if (at == text_.size()) break;
    if (folded == kNonAscii) return Scan::kNotAscii;
    const char stop = text_[at];
    if (stop != '\'' && stop != '.' && stop != '+' && stop != '#') break;
    const size_t kept = std::min(size, kTermSizeMax);
    const Shape shape = {.ends_in_ascii_letter = IsLetter(FoldByte(text_[at - 1])),
                         .is_numeric = has_other && kept == size &&
                                       std::all_of(word_, word_ + kept,
                                                   [](char c) { return IsDigit(c) || c == '.'; }),
                         .is_ascii_letter = size == 1 && !has_other};
    const Glue glue = GlueAt(at, shape);
    if (glue.size == 0) break;
    for (size_t i = 0; i < glue.size; ++i, ++size) {
      if (size < kTermSizeMax) word_[size] = text_[at + i];
    }
    at += glue.size;
    has_other |= stop != '\'';
    if (glue.ends) break;
  }
  word_size_ = std::min(size, kTermSizeMax);
  is_ascii_word_ = !has_other && size <= kTermSizeMax;
  at_ = end_ = at;
  return Scan::kWord;
}

// Appends the fold of a letter or mark to the word; accents of letters that lose them are dropped.
WordScanner::Append WordScanner::AppendFolded(int32_t code_point) {
  unicode::Folded folded;
  if (code_point < 0x80) {
    const char byte = FoldByte(static_cast<char>(code_point));
    if (byte == kSeparator || (count_ > 0 && base_is_ideograph_)) return Append::kWordEnds;
    Push(byte, unicode::WordPart::kLetter);
    return Append::kAdded;
  }
  unicode::Fold(code_point, &folded);
  switch (folded.part) {
    case unicode::WordPart::kIgnorable:
      return Append::kIgnored;
    case unicode::WordPart::kLetter:
      if (count_ > 0 && base_is_ideograph_) return Append::kWordEnds;
      break;
    case unicode::WordPart::kIdeograph:
      if (count_ > 0) return Append::kWordEnds;
      break;
    case unicode::WordPart::kMark:
      if (count_ == 0) return Append::kWordEnds;
      break;
    case unicode::WordPart::kSeparator:
      return Append::kWordEnds;
  }
  for (size_t i = 0; i < folded.count; ++i) {
    const int32_t next = folded.code_points[i];
    if (count_ > 0 && unicode::IsAccent(next) && unicode::DropsAccents(base_)) continue;
    Push(next, i == 0 ? folded.part : unicode::PartOf(next));
  }
  return Append::kAdded;
}

void WordScanner::Push(int32_t folded, unicode::WordPart part) {
  if (count_ < kCodePointCountMax) code_points_[count_++] = folded;
  last_ = folded;
  is_numeric_ &= count_ <= kTermSizeMax && ((folded >= '0' && folded <= '9') || folded == '.');
  if (part == unicode::WordPart::kMark) return;
  base_ = folded;
  base_is_ideograph_ = part == unicode::WordPart::kIdeograph;
}

// Appends punctuation that belongs to the word; a curly apostrophe becomes a straight one.
void WordScanner::PushGlue(size_t at, size_t size) {
  if (size == kCurlyApostrophe.size()) return Push('\'', unicode::WordPart::kLetter);
  for (size_t i = 0; i < size; ++i) Push(text_[at + i], unicode::WordPart::kLetter);
}

bool WordScanner::ScanUnicode() {
  count_ = 0;
  is_numeric_ = true;
  base_is_ideograph_ = false;
  size_t at = begin_;
  end_ = begin_;
  while (at < text_.size()) {
    if (count_ > 0) {
      const bool is_letter = last_ >= 'a' && last_ <= 'z';
      const Glue glue = GlueAt(at, {is_letter, is_numeric_, is_letter && count_ == 1});
      if (glue.size > 0) {
        PushGlue(at, glue.size);
        end_ = at += glue.size;
        if (glue.ends) break;
        continue;
      }
    }
    const unicode::Decoded next = unicode::Decode(text_.substr(at));
    const Append appended = next.code_point < 0 ? Append::kWordEnds : AppendFolded(next.code_point);
    if (appended == Append::kWordEnds) break;
    at += next.size;
    if (appended == Append::kAdded) end_ = at;
    if (count_ == 0) break;  // an ignorable code point before any word
  }
  at_ = at;
  if (count_ == 0) {
    if (at == begin_) at_ += unicode::Decode(text_.substr(begin_)).size;
    return false;
  }
  FinishUnicode();
  return true;
}

void WordScanner::FinishUnicode() {
  const size_t count = unicode::Compose(code_points_, count_);
  utf8_.clear();
  unicode::AppendUtf8(code_points_, count, &utf8_);
  word_size_ = unicode::CutSize(utf8_, kTermSizeMax);
  std::memset(word_, 0, 16);
  std::memcpy(word_, utf8_.data(), word_size_);
  is_ascii_word_ = word_size_ == utf8_.size() &&
                   std::all_of(utf8_.begin(), utf8_.end(),
                               [](char c) { return IsLetter(FoldByte(c)) || c == '\''; });
}

}  // namespace search::index
