#include "index/core/query/lexer.h"

#include <algorithm>

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

// True if a sign before `rest` is an operator, that is, directly before its operand. `--all` and
// `++i` are words.
bool IsOperand(std::string_view rest, char sign) {
  return !rest.empty() && rest[0] != sign && rest[0] != ')' && BlankSize(rest) == 0;
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
  if (rest[0] == '-' && IsOperand(rest.substr(1), '-')) return Take(LexemeKind::kMinus, 1);
  if (rest[0] == '+' && IsOperand(rest.substr(1), '+')) return Take(LexemeKind::kPlus, 1);
  if (const size_t mark_size = QuoteSize(rest)) return ScanQuotation(mark_size);
  if (const size_t size = PrefixSize(rest, "title")) return Take(LexemeKind::kTitle, size);
  if (const size_t size = PrefixSize(rest, "site")) return Take(LexemeKind::kSite, size);
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
    at_ = end + closing_size;
    return lexeme;
  }
  lexeme.text = query_.substr(begin);
  at_ = query_.size();
  return lexeme;
}

Lexeme Lexer::ScanWord() {
  size_t end = at_;
  while (!EndsWord(query_.substr(end))) ++end;
  const std::string_view word = query_.substr(at_, end - at_);
  if (word == "AND") return Take(LexemeKind::kAnd, word.size());
  if (word == "OR") return Take(LexemeKind::kOr, word.size());
  if (word == "NOT") return Take(LexemeKind::kNot, word.size());
  return Take(LexemeKind::kWord, word.size());
}

}  // namespace search::index
