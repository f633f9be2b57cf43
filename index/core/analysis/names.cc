#include "index/core/analysis/names.h"

#include <algorithm>
#include <array>

#include "index/core/analysis/analyzer.h"

namespace search::index {
namespace {

constexpr std::string_view kOperator = "operator";
constexpr size_t kLeadingUnderscoresMax = 4;
constexpr size_t kOperatorSignSizeMax = 3;

// Ascending. Not in the list although they are operators: `::`, because names joined by it are
// phrases of their words; `--`, `...` and `??`, which prose has.
constexpr std::string_view kSigns[] = {
    "!=",  "!==", "!~",  "!~*", "#>", "#>>", "$$",  "%=", "&&",  "&&=", "&=", "&>", "**",
    "*=",  "++",  "+=",  "-=",  "->", "->*", "->>", "//", "/=",  ":=",  "<-", "<<", "<<<",
    "<<=", "<=",  "<=>", "<>",  "<@", "==",  "===", "=>", "=~",  ">&",  ">=", ">>", ">>=",
    "?|",  "@>",  "@@",  "^=",  "|&", "|=",  "|>",  "||", "||=", "~*",  "~~",
};
static_assert(std::is_sorted(std::begin(kSigns), std::end(kSigns)));

enum ByteClass : unsigned char {
  kLetterClass = 1,
  kDigitClass = 2,
  kSignClass = 4,
  // May precede an option.
  kOpensOptionClass = 8,
};

constexpr std::array<unsigned char, 256> MakeClasses() {
  std::array<unsigned char, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = kLetterClass;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kDigitClass;
  for (const char c : std::string_view("!#$%&*+-/:<=>?@^|~")) {
    classes[static_cast<unsigned char>(c)] |= kSignClass;
  }
  for (int c = 0; c <= ' '; ++c) classes[c] |= kOpensOptionClass;
  for (const char c : std::string_view("([{<|,/\"'`=")) {
    classes[static_cast<unsigned char>(c)] |= kOpensOptionClass;
  }
  return classes;
}
constexpr std::array<unsigned char, 256> kClasses = MakeClasses();

bool Is(char c, int wanted) { return (kClasses[static_cast<unsigned char>(c)] & wanted) != 0; }
bool IsLetter(char c) { return Is(c, kLetterClass); }
bool IsAlphanumeric(char c) { return Is(c, kLetterClass | kDigitClass); }

char At(std::string_view text, size_t at) { return at < text.size() ? text[at] : '\0'; }

// True if a name may end at `end`: the scanner does not continue a word there.
bool EndsName(std::string_view text, size_t end) {
  const char next = At(text, end);
  if (next == '\'' || next == '+' || next == '#' || static_cast<unsigned char>(next) >= 0x80) {
    return false;
  }
  return next != '.' || !Is(text[end - 1], kDigitClass) || !Is(At(text, end + 1), kDigitClass);
}

// `name`, if it is short enough and ends with a word.
NameRange Checked(std::string_view text, NameRange name) {
  return name.size() <= kTermSizeMax && EndsName(text, name.end) ? name : NameRange();
}

NameRange OptionAt(std::string_view text, size_t begin) {
  const bool is_long = begin >= 2 && text[begin - 2] == '-';
  const size_t dashes = is_long ? 2 : 1;
  const size_t start = begin - dashes;
  if (start > 0 && !Is(text[start - 1], kOpensOptionClass)) return {};
  size_t end = begin;
  while (end < text.size() && end - start <= kTermSizeMax &&
         (IsAlphanumeric(text[end]) || text[end] == '_' || text[end] == '-')) {
    ++end;
  }
  while (!IsAlphanumeric(text[end - 1])) --end;
  // `-9` is an option of kill; `-15` and `-1.5` are numbers.
  if (!IsLetter(text[begin]) && (is_long || end - begin > 1)) return {};
  return Checked(text, {start, end});
}

NameRange UnderscoredAt(std::string_view text, size_t begin) {
  size_t start = begin;
  while (start > 0 && text[start - 1] == '_' && begin - start <= kLeadingUnderscoresMax) --start;
  if (begin - start > kLeadingUnderscoresMax || !IsLetter(text[begin])) return {};
  if (start > 0 &&
      (IsAlphanumeric(text[start - 1]) || static_cast<unsigned char>(text[start - 1]) >= 0x80)) {
    return {};  // inside of an identifier
  }
  size_t end = begin;
  while (end < text.size() && end - start <= kTermSizeMax &&
         (IsAlphanumeric(text[end]) || text[end] == '_')) {
    ++end;
  }
  return Checked(text, {start, end});
}

NameRange OperatorAt(std::string_view text, size_t begin, size_t end) {
  const std::string_view rest = text.substr(end);
  if (rest.starts_with("()") || rest.starts_with("[]")) return {begin, end + 2};
  size_t size = 0;
  while (size < rest.size() && Is(rest[size], kSignClass)) ++size;
  if (size == 0 || size > kOperatorSignSizeMax || rest[0] == ':') return {};
  const bool is_hyphen = size == 1 && (rest[0] == '-' || rest[0] == '/');
  if (is_hyphen && IsAlphanumeric(At(rest, 1))) return {};  // `operator-based`
  return {begin, end + size};
}

bool IsOperatorWord(std::string_view word) {
  return word.size() == kOperator.size() &&
         std::equal(word.begin(), word.end(), kOperator.begin(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

}  // namespace

NameRange MarkedNameAt(std::string_view text, size_t begin, size_t end) {
  if (begin > 0 && IsAlphanumeric(text[begin])) {
    if (text[begin - 1] == '-') return OptionAt(text, begin);
    if (text[begin - 1] == '_') return UnderscoredAt(text, begin);
  }
  const bool may_be_operator = end - begin == kOperator.size() && end < text.size();
  if (may_be_operator && IsOperatorWord(text.substr(begin, end - begin))) {
    return OperatorAt(text, begin, end);
  }
  return {};
}

NameRange NextSign(std::string_view text, size_t begin, size_t end) {
  for (size_t at = begin; at + 1 < end;) {
    size_t run = at;
    while (run < end && Is(text[run], kSignClass)) ++run;
    if (std::binary_search(std::begin(kSigns), std::end(kSigns), text.substr(at, run - at))) {
      return {at, run};
    }
    at = run == at ? at + 1 : run;
  }
  return {};
}

}  // namespace search::index
