#include "index/core/analysis/term_finder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "index/core/analysis/names.h"
#include "index/core/analysis/word_scanner.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace search::index {
namespace {

constexpr size_t kBlockSize = 64;
constexpr size_t kComparedSizeMax = sizeof(uint64_t);
// Longer lists of beginnings are not searched: the word is read.
constexpr size_t kBeginningsMax = 16;
constexpr uint64_t kLowerCaseBits = 0x2020202020202020;

// Classes of bytes: a letter or digit in either case, other bytes of ASCII, bytes that are not.
constexpr uint8_t kOtherClass = 0;
constexpr uint8_t kFirstDigitClass = 1;
constexpr uint8_t kFirstLetterClass = 11;
constexpr uint8_t kNonAsciiClass = 37;

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> classes{};
  for (size_t c = 0; c < 256; ++c) {
    if (c >= '0' && c <= '9') classes[c] = static_cast<uint8_t>(kFirstDigitClass + c - '0');
    if (c >= 'a' && c <= 'z') classes[c] = static_cast<uint8_t>(kFirstLetterClass + c - 'a');
    if (c >= 'A' && c <= 'Z') classes[c] = static_cast<uint8_t>(kFirstLetterClass + c - 'A');
    if (c >= 0x80) classes[c] = kNonAsciiClass;
  }
  return classes;
}
constexpr std::array<uint8_t, 256> kClasses = MakeClasses();

uint8_t ClassOf(char c) { return kClasses[static_cast<uint8_t>(c)]; }
bool IsNonAscii(char c) { return static_cast<uint8_t>(c) >= 0x80; }
bool IsStemLetter(char c) { return ClassOf(c) >= kFirstLetterClass || c == '\''; }

// True if no word holds the byte and the byte after it.
bool AlwaysSeparates(char c) { return ClassOf(c) == kOtherClass && c != '\'' && c != '.'; }

// True for what WordScanner can yield, as opposed to signs and marked names.
bool IsWord(std::string_view term) {
  for (size_t i = 0; i < term.size(); ++i) {
    if (!AlwaysSeparates(term[i])) continue;
    // `c++` and `c#`: nothing longer than a letter has them.
    const std::string_view rest = term.substr(i);
    if (i != 1 || ClassOf(term[0]) < kFirstLetterClass || (rest != "++" && rest != "#")) {
      return false;
    }
    return true;
  }
  return !term.empty() && ClassOf(term[0]) != kOtherClass;
}

// The number of first bytes that a word shares with its term.
size_t SharedSize(std::string_view term) {
  const bool may_be_stem = std::all_of(term.begin(), term.end(),
                                       [](char c) { return !IsNonAscii(c) && IsStemLetter(c); });
  if (!may_be_stem) return term.size();
  // The stems of `dying`, `lying` and `tying`.
  if (term == "die" || term == "lie" || term == "tie") return 1;
  return std::max<size_t>(term.size() - 1, 1);
}

// A prefix of a stem is followed by more of it, or is the stem.
size_t SharedSizeOfPrefix(std::string_view prefix) {
  constexpr std::string_view kShortStems[] = {"die", "lie", "tie"};
  for (const std::string_view stem : kShortStems) {
    if (stem.starts_with(prefix)) return 1;
  }
  return SharedSize(prefix);
}

uint64_t Load(const char* bytes, size_t size) {
  uint64_t loaded = 0;
  if (size >= sizeof(loaded)) {
    std::memcpy(&loaded, bytes, sizeof(loaded));  // not a call
  } else {
    std::memcpy(&loaded, bytes, size);
  }
  return loaded;
}

// Bits of the letters and digits, and of the bytes that are not ASCII, of kBlockSize bytes.
struct ByteMasks {
  uint64_t alphanumeric = 0;
  uint64_t non_ascii = 0;
};

#if defined(__SSE2__)
// Bits of the bytes from `low` to `high`, which are ASCII; the comparison is signed, so others are
// below.
uint64_t RangeBits(__m128i bytes, char low, char high) {
  const __m128i above = _mm_cmpgt_epi8(bytes, _mm_set1_epi8(static_cast<char>(low - 1)));
  const __m128i below = _mm_cmplt_epi8(bytes, _mm_set1_epi8(static_cast<char>(high + 1)));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_and_si128(above, below)));
}

ByteMasks MasksOf(const char* block) {
  ByteMasks masks;
  for (unsigned i = 0; i < kBlockSize; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + i));
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    masks.alphanumeric |= (RangeBits(lower, 'a', 'z') | RangeBits(bytes, '0', '9')) << i;
    masks.non_ascii |= uint64_t{static_cast<uint32_t>(_mm_movemask_epi8(bytes))} << i;
  }
  return masks;
}
#else
ByteMasks MasksOf(const char* block) {
  ByteMasks masks;
  for (unsigned i = 0; i < kBlockSize; ++i) {
    const uint8_t byte_class = ClassOf(block[i]);
    masks.non_ascii |= uint64_t{byte_class == kNonAsciiClass} << i;
    masks.alphanumeric |= uint64_t{byte_class != kOtherClass && byte_class != kNonAsciiClass} << i;
  }
  return masks;
}
#endif

ByteMasks MasksAt(std::string_view text, size_t at) {
  if (text.size() - at >= kBlockSize) return MasksOf(text.data() + at);
  char block[kBlockSize] = {};
  std::memcpy(block, text.data() + at, text.size() - at);
  return MasksOf(block);
}

// Bits of the places of a block where a word may begin: letters and digits that follow none, and
// all bytes that are not ASCII.
uint64_t PlacesOf(const ByteMasks& masks, std::string_view text, size_t at) {
  const uint64_t follows = at > 0 && ClassOf(text[at - 1]) != kOtherClass ? 1 : 0;
  const uint64_t part_of_word = masks.alphanumeric | masks.non_ascii;
  return (masks.alphanumeric & ~(part_of_word << 1 | follows)) | masks.non_ascii;
}

// The last place in [lowest, at] that is outside of words or begins one, whatever is before it.
size_t SureBegin(std::string_view text, size_t at, size_t lowest) {
  while (at > lowest && !AlwaysSeparates(text[at - 1])) --at;
  return at;
}

size_t SureEnd(std::string_view text, size_t at) {
  while (at < text.size() && !AlwaysSeparates(text[at])) ++at;
  return at;
}

}  // namespace

void WantedTerms::Add(std::string_view term, bool is_prefix) {
  // The only marked names that begin with a letter.
  constexpr std::string_view kOperator = "operator";
  has_names_ |= !IsWord(term) || (is_prefix && kOperator.starts_with(term));
  const size_t shared = is_prefix ? SharedSizeOfPrefix(term) : SharedSize(term);
  const size_t size = std::min(shared, kComparedSizeMax);
  const uint64_t mask = size == kComparedSizeMax ? ~uint64_t{0} : (uint64_t{1} << (8 * size)) - 1;
  const size_t first = ClassOf(term[0]);
  beginnings_[first].push_back({mask, (Load(term.data(), size) | kLowerCaseBits) & mask});
  second_classes_[first] |= size > 1 ? uint64_t{1} << ClassOf(term[1]) : ~uint64_t{0};
}

bool WantedTerms::HasBeginning(size_t first_class, uint64_t bytes) const {
  const std::vector<Beginning>& beginnings = beginnings_[first_class];
  if (beginnings.size() > kBeginningsMax) return true;
  return std::any_of(beginnings.begin(), beginnings.end(), [bytes](const Beginning& one) {
    return ((bytes | kLowerCaseBits) & one.mask) == one.bytes;
  });
}

bool WantedTerms::MayBeginAt(std::string_view text, size_t at) const {
  const size_t first = ClassOf(text[at]);
  const size_t second = at + 1 < text.size() ? ClassOf(text[at + 1]) : kOtherClass;
  if ((second_classes_[first] >> second & 1) == 0) return false;
  return HasBeginning(first, Load(text.data() + at, text.size() - at));
}

bool WantedTerms::MayBe(const char* folded) const {
  return HasBeginning(ClassOf(folded[0]), Load(folded, kComparedSizeMax));
}

TermFinder::TermFinder() : stemmer_(kStemCacheSize) {}

void TermFinder::Find(std::string_view text, const WantedTerms& wanted,
                      std::vector<Token>* tokens) {
  arena_.Reset();
  tokens->clear();
  text = text.substr(0, kTextSizeMax);
  size_t done = 0;  // all words that begin before it are read or passed over
  for (size_t block = 0; block < text.size();) {
    const ByteMasks masks = MasksAt(text, block);
    uint64_t places = PlacesOf(masks, text, block);
    if (done > block) places &= ~uint64_t{0} << (done - block);
    while (places != 0) {
      const auto bit = static_cast<unsigned>(std::countr_zero(places));
      const size_t at = block + bit;
      places &= places - 1;
      if ((masks.non_ascii >> bit & 1) != 0) {
        done = ReadWords(text, SureBegin(text, at, done), SureEnd(text, at), wanted, tokens);
      } else if (wanted.MayBeginAt(text, at)) {
        done = ReadWords(text, SureBegin(text, at, done), at + 1, wanted, tokens);
      } else {
        continue;
      }
      if (done >= block + kBlockSize) break;
      places &= ~uint64_t{0} << (done - block);
    }
    block = std::max(block + kBlockSize, done / kBlockSize * kBlockSize);
  }
}

size_t TermFinder::ReadWords(std::string_view text, size_t begin, size_t end,
                             const WantedTerms& wanted, std::vector<Token>* tokens) {
  WordScanner words(text.substr(begin));
  size_t read = end;
  while (words.Next()) {
    const size_t word_begin = begin + words.begin_byte();
    if (word_begin >= end) break;
    const size_t word_end = begin + words.end_byte();
    read = std::max(end, word_end);
    if (wanted.MayBe(words.word())) {
      tokens->push_back({.term = TermOf(words),
                         .begin_byte = static_cast<uint32_t>(word_begin),
                         .end_byte = static_cast<uint32_t>(word_end)});
    }
    if (word_end >= end) break;
  }
  return read;
}

std::string_view TermFinder::TermOf(const WordScanner& word) {
  char* room = arena_.Room(kTermSizeMax);
  size_t size = word.word_size();
  if (word.has_stem()) {
    size = stemmer_.Stem(word.word(), size, room);
  } else {
    std::memcpy(room, word.word(), size);
  }
  arena_.Keep(size);
  return {room, size};
}

size_t TermFinder::CountPositions(std::string_view text, size_t begin, size_t end,
                                  size_t count_max) {
  const std::string_view rest = text.substr(begin);
  WordScanner words(rest);
  size_t at = 0;
  size_t count = 0;
  while (count < count_max) {
    const bool has_word = words.Next();
    const size_t word_begin = has_word ? words.begin_byte() : rest.size();
    for (NameRange sign = NextSign(rest, at, word_begin); sign.size() > 0;
         sign = NextSign(rest, sign.end, word_begin)) {
      ++count;
    }
    if (begin + word_begin >= end) break;
    ++count;
    at = words.end_byte();
  }
  return std::min(count, count_max);
}

}  // namespace search::index
