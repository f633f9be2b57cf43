#include "index/core/analysis/unicode.h"

#include <utf8proc.h>

#include <algorithm>

namespace search::index::unicode {

namespace {

struct Range {
  int32_t first;
  int32_t last;
};

// Scripts written without blanks between words, ascending.
constexpr Range kIdeographs[] = {
    {0x0E00, 0x0EFF},    // Thai, Lao
    {0x1000, 0x109F},    // Myanmar
    {0x1780, 0x17FF},    // Khmer
    {0x2E80, 0x2FDF},    // CJK radicals
    {0x3005, 0x3007},    // ideographic iteration mark, closing mark, zero
    {0x3021, 0x3029},    // Hangzhou numerals
    {0x3040, 0x30FF},    // Hiragana, Katakana
    {0x3100, 0x312F},    // Bopomofo
    {0x31F0, 0x31FF},    // Katakana extensions
    {0x3400, 0x4DBF},    // CJK extension A
    {0x4E00, 0x9FFF},    // CJK
    {0xF900, 0xFAFF},    // CJK compatibility
    {0x1B000, 0x1B16F},  // Kana supplement
    {0x20000, 0x3FFFF},  // CJK extensions B and later
};

bool IsIdeograph(int32_t code_point) {
  if (code_point < kIdeographs[0].first) return false;
  for (const Range& range : kIdeographs) {
    if (code_point <= range.last) return code_point >= range.first;
  }
  return false;
}

bool IsThaiOrLao(int32_t code_point) { return code_point >= 0x0E00 && code_point <= 0x0EFF; }

WordPart PartOfCategory(utf8proc_category_t category) {
  switch (category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return WordPart::kLetter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return WordPart::kMark;
    default:
      return WordPart::kSeparator;
  }
}

// A fold that would split into words, or into several ideographs, cannot be one piece of one word.
bool FitsOneWord(const Folded& folded) {
  for (size_t i = 0; i < folded.count; ++i) {
    const WordPart part = PartOf(folded.code_points[i]);
    if (part == WordPart::kSeparator || part == WordPart::kIgnorable) return false;
    if (part == WordPart::kIdeograph && i > 0) return false;
    if (part == WordPart::kLetter && PartOf(folded.code_points[0]) == WordPart::kIdeograph)
      return false;
  }
  return folded.count > 0;
}

}  // namespace

Decoded Decode(std::string_view text) {
  utf8proc_int32_t code_point = -1;
  const utf8proc_ssize_t size = utf8proc_iterate(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(std::min<size_t>(text.size(), 4)), &code_point);
  if (size <= 0) return {-1, 1};
  return {code_point, static_cast<size_t>(size)};
}

size_t CutSize(std::string_view utf8, size_t size_max) {
  if (utf8.size() <= size_max) return utf8.size();
  size_t size = size_max;
  while (size > 0 && (static_cast<uint8_t>(utf8[size]) & 0xC0) == 0x80) --size;
  return size;
}

WordPart PartOf(int32_t folded) {
  const utf8proc_property_t* property = utf8proc_get_property(folded);
  if (property->ignorable) return WordPart::kIgnorable;
  const WordPart part = PartOfCategory(static_cast<utf8proc_category_t>(property->category));
  return part == WordPart::kLetter && IsIdeograph(folded) ? WordPart::kIdeograph : part;
}

void Fold(int32_t code_point, Folded* folded) {
  folded->count = 0;
  folded->part = PartOf(code_point);
  if (folded->part == WordPart::kSeparator || folded->part == WordPart::kIgnorable) return;
  if (IsThaiOrLao(code_point)) {
    folded->count = 1;
    folded->code_points[0] = code_point;
    return;
  }
  int boundary_class = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(
      code_point, folded->code_points, kFoldedSizeMax,
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD),
      &boundary_class);
  folded->count = count > 0 && count <= static_cast<utf8proc_ssize_t>(kFoldedSizeMax)
                      ? static_cast<size_t>(count)
                      : 0;
  if (!FitsOneWord(*folded)) {
    folded->count = 0;
    folded->part = WordPart::kSeparator;
    return;
  }
  folded->part = PartOf(folded->code_points[0]);
}

bool DropsAccents(int32_t letter) {
  return letter < 0x0250 || (letter >= 0x0370 && letter <= 0x03FF) ||
         (letter >= 0x1E00 && letter <= 0x1FFF);
}

bool IsAccent(int32_t folded) { return folded >= 0x0300 && folded <= 0x036F; }

size_t Compose(int32_t* code_points, size_t count) {
  constexpr int32_t kFirstCombining = 0x0300;
  if (std::all_of(code_points, code_points + count,
                  [](int32_t c) { return c < kFirstCombining; })) {
    return count;
  }
  for (size_t i = 1; i < count; ++i) {
    const auto combining_class = utf8proc_get_property(code_points[i])->combining_class;
    if (combining_class == 0) continue;
    for (size_t j = i; j > 0; --j) {
      if (utf8proc_get_property(code_points[j - 1])->combining_class <= combining_class) break;
      std::swap(code_points[j - 1], code_points[j]);
    }
  }
  const utf8proc_ssize_t composed =
      utf8proc_normalize_utf32(code_points, static_cast<utf8proc_ssize_t>(count),
                               static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  return composed < 0 ? count : static_cast<size_t>(composed);
}

void AppendUtf8(const int32_t* code_points, size_t count, std::string* out) {
  for (size_t i = 0; i < count; ++i) {
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t size = utf8proc_encode_char(code_points[i], bytes);
    out->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  }
}

}  // namespace search::index::unicode
