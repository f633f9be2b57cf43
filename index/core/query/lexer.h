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
  kPlus,
  kMinus,
  kTitle,  // `title:` directly before an operand
  kSite,   // `site:` directly before an operand
};

struct Lexeme {
  LexemeKind kind = LexemeKind::kEnd;
  std::string_view text = {};  // kWord; kQuotation without its quotation marks
  size_t at = 0;               // byte offset in the query
  bool is_closed = true;       // kQuotation
};

class Lexer {
 public:
  explicit Lexer(std::string_view query) : query_(query) {}

  Lexeme Next();

 private:
  Lexeme Take(LexemeKind kind, size_t size);
  Lexeme ScanQuotation(size_t mark_size);
  Lexeme ScanWord();

  std::string_view query_;
  size_t at_ = 0;
};

}  // namespace search::index
