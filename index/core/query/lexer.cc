#include "index/core/query/lexer.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "index/core/query/field_filter.h"
#include "index/core/query/query.h"

namespace search::index {

namespace {

// Size of the blank or control character at the start of `text`; 0 if there is none.
size_t BlankSize(std::string_view text) {
  if (text.empty()) return 0;
  if (static_cast<uint8_t>(text[0]) <= ' ' || text[0] == '\x7F') return 1;
  if (text.starts_with("\xC2\xA0") || text.starts_with("\xC2\x85")) return 2;
  if (text.starts_with("\xE3\x80\x80")) return 3;  // ideographic space
  if (text.size() >= 3 && text.starts_with("\xE2\x80") && static_cast<uint8_t>(text[2]) <= 0x8A) {
    return 3;  // U+2000 to U+200A
  }
  return 0;
}

// Size of the quotation mark at the start of `text`, including the curly ones of telephones; 0 if
// there is none.
size_t QuoteSize(std::string_view text) {
  if (text.starts_with('"')) return 1;
  for (const std::string_view mark : {"\xE2\x80\x9C", "\xE2\x80\x9D", "\xE2\x80\x9E"}) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

bool IsBracket(char c) { return c == '(' || c == ')'; }

bool EndsWord(std::string_view text) {
  return text.empty() || IsBracket(text[0]) || BlankSize(text) > 0 || QuoteSize(text) > 0;
}

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// True if an operator before `rest` is directly before its operand.
bool IsOperand(std::string_view rest, char sign) {
  return !rest.empty() && rest[0] != sign && rest[0] != ')' && BlankSize(rest) == 0;
}

// True if `text` begins with the sign as an operator. `--all`, `++i`, `->`, `+=` and `~*` are
// words.
bool IsSign(std::string_view text, char sign) {
  return text[0] == sign && IsOperand(text.substr(1), sign) && text[1] != '>' && text[1] != '=' &&
         !(sign == '~' && text[1] == '*');
}

// True if `text` begins with an option of one letter or digit, such as `-m`: a word, because people
// ask for the options of programs.
bool IsShortOption(std::string_view text) {
  return text.size() > 1 && text[0] == '-' && IsAlphanumeric(text[1]) && EndsWord(text.substr(2));
}

// The distance of NEAR and NEAR/5; 0 for other words and for distances out of range.
uint32_t NearDistance(std::string_view word) {
  if (word == "NEAR") return kNearDistanceDefault;
  if (!word.starts_with("NEAR/")) return 0;
  word.remove_prefix(5);
  uint32_t distance = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), distance);
  const bool is_whole = error == std::errc() && end == word.data() + word.size();
  return is_whole && distance <= kNearDistanceMax ? distance : 0;
}

bool IsBooleanOperator(std::string_view word) {
  return word == "AND" || word == "OR" || word == "NOT" || NearDistance(word) > 0;
}

// Size of the bracket at the start of `text`, if it can hold the arguments of the name before it,
// as in `O(n log n)` and `git-log(1)`: closed, short, without quotations and operators. Else 0.
size_t ArgumentsSize(std::string_view text) {
  constexpr size_t kArgumentsSizeMax = 64;
  size_t depth = 0;
  size_t word = 0;
  for (size_t at = 0; at < std::min(text.size(), kArgumentsSizeMax); ++at) {
    const std::string_view rest = text.substr(at);
    if (!EndsWord(rest)) continue;
    if (QuoteSize(rest) > 0 || IsBooleanOperator(text.substr(word, at - word))) return 0;
    word = at + 1;
    if (rest[0] == '(') ++depth;
    if (rest[0] == ')' && --depth == 0) return at + 1;
  }
  return 0;
}

// Size of the prefix `name:` at the start of `text`, in any case; 0 if there is none, or if it is
// followed by nothing or by another colon (`title::size` is code).
size_t PrefixSize(std::string_view text, std::string_view name) {
  const size_t size = name.size() + 1;
  if (text.size() <= size || text[name.size()] != ':') return 0;
  const bool same = std::equal(name.begin(), name.end(), text.begin(), [](char a, char b) {
    return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
  });
  const std::string_view rest = text.substr(size);
  return same && IsOperand(rest, ':') ? size : 0;
}

// A share of the score such as `^0.5` or `^0.05`.
struct Share {
  size_t size = 0;  // 0: there is none
  uint32_t percent = 100;
};

// The share at the start of `text`, which must end there.
Share ShareAt(std::string_view text) {
  if (!text.starts_with("^0.")) return {};
  uint32_t percent = 0;
  size_t size = 3;
  for (; size < text.size() && size < 5 && text[size] >= '0' && text[size] <= '9'; ++size) {
    percent += static_cast<uint32_t>(text[size] - '0') * (size == 3 ? 10 : 1);
  }
  if (percent == 0 || !EndsWord(text.substr(size))) return {};
  return {size, percent};
}

}  // namespace

Lexeme Lexer::Next() {
  std::string_view rest = query_.substr(at_);
  while (const size_t blank = BlankSize(rest)) {
    at_ += blank;
    rest = query_.substr(at_);
  }
  if (rest.empty()) return {.at = at_};
  if (rest[0] == '(') return Take(LexemeKind::kOpen, 1);
  if (rest[0] == ')') return Take(LexemeKind::kClose, 1);
  if (IsShortOption(rest)) return ScanWord();
  if (IsSign(rest, '-')) return Take(LexemeKind::kMinus, 1);
  if (IsSign(rest, '+')) return Take(LexemeKind::kPlus, 1);
  if (IsSign(rest, '~')) return Take(LexemeKind::kTilde, 1);
  if (const size_t mark_size = QuoteSize(rest)) return ScanQuotation(mark_size);
  if (const size_t size = PrefixSize(rest, "title")) return Take(LexemeKind::kTitle, size);
  if (const size_t size = PrefixSize(rest, "site")) return Take(LexemeKind::kSite, size);
  for (const std::string_view name : kFilterNames) {
    const size_t size = PrefixSize(rest, name);
    // `url://x` is an address.
    if (size == 0 || rest.substr(size).starts_with("//")) continue;
    Lexeme field = Take(LexemeKind::kField, size);
    field.text = name;
    return field;
  }
  return ScanWord();
}

Lexeme Lexer::Take(LexemeKind kind, size_t size) {
  const Lexeme lexeme = {.kind = kind, .text = query_.substr(at_, size), .at = at_};
  at_ += size;
  return lexeme;
}

Lexeme Lexer::ScanQuotation(size_t mark_size) {
  const size_t begin = at_ + mark_size;
  Lexeme lexeme = {.kind = LexemeKind::kQuotation, .at = at_, .is_closed = false};
  for (size_t end = begin; end < query_.size(); ++end) {
    const size_t closing_size = QuoteSize(query_.substr(end));
    if (closing_size == 0) continue;
    lexeme.text = query_.substr(begin, end - begin);
    lexeme.is_closed = true;
    const Share share = ShareAt(query_.substr(end + closing_size));
    lexeme.percent = share.percent;
    at_ = end + closing_size + share.size;
    return lexeme;
  }
  lexeme.text = query_.substr(begin);
  at_ = query_.size();
  return lexeme;
}

// Takes the word; a share at its end is not of its text.
Lexeme Lexer::TakeWord(std::string_view word) {
  Lexeme lexeme = Take(LexemeKind::kWord, word.size());
  const size_t mark = word.rfind('^');
  if (mark == std::string_view::npos || mark == 0) return lexeme;
  const Share share = ShareAt(word.substr(mark));
  lexeme.text.remove_suffix(share.size);
  lexeme.percent = share.percent;
  return lexeme;
}

Lexeme Lexer::ScanWord() {
  size_t end = at_;
  while (true) {
    while (!EndsWord(query_.substr(end))) ++end;
    const std::string_view word = query_.substr(at_, end - at_);
    if (word == "AND") return Take(LexemeKind::kAnd, word.size());
    if (word == "OR") return Take(LexemeKind::kOr, word.size());
    if (word == "NOT") return Take(LexemeKind::kNot, word.size());
    if (const uint32_t distance = NearDistance(word)) {
      Lexeme near = Take(LexemeKind::kNear, word.size());
      near.distance = distance;
      return near;
    }
    const bool may_be_call = IsAlphanumeric(query_[end - 1]) || query_[end - 1] == '_';
    const size_t arguments = may_be_call && end < query_.size() && query_[end] == '('
                                 ? ArgumentsSize(query_.substr(end))
                                 : 0;
    if (arguments == 0) return TakeWord(word);
    end += arguments;
  }
}

}  // namespace search::index
