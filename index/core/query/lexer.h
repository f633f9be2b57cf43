// Splits query text into words, quotations, brackets and operators (grammar: README.md).
//
// Threads: thread-compatible.
// Limits: none of its own; each byte is examined a bounded number of times.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace search::index {

enum class LexemeKind : uint8_t {
  kEnd,
  kWord,
  kQuotation,
  kOpen,
  kClose,
  kAnd,
  kOr,
  kNot,
  kNear,
  kPlus,
  kMinus,
  kTilde,
  kTitle,  // `title:` directly before an operand
  kSite,   // `site:` directly before an operand
  kField,  // `url:`, `lang:`, `before:` or `after:`, its name being `text`
};

struct Lexeme {
  LexemeKind kind = LexemeKind::kEnd;
  std::string_view text = {};  // kWord; kQuotation without its quotation marks
  size_t at = 0;               // byte offset in the query
  bool is_closed = true;       // kQuotation
  // kWord, kQuotation: what follows it as `^0.5` is left out of `text`.
  uint32_t percent = 100;
  uint32_t distance = 0;  // kNear
};

class Lexer {
 public:
  explicit Lexer(std::string_view query) : query_(query) {}

  Lexeme Next();
  // Byte offset after the last lexeme.
  size_t at() const { return at_; }

 private:
  Lexeme Take(LexemeKind kind, size_t size);
  Lexeme ScanQuotation(size_t mark_size);
  Lexeme ScanWord();
  Lexeme TakeWord(std::string_view word);

  std::string_view query_;
  size_t at_ = 0;
};

}  // namespace search::index
