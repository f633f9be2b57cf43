// Splits query text into words, quotations, brackets and operators.
//
// README.md has the grammar.
// Threads: thread-compatible.
// Limits: none of its own; each byte is looked at a bounded number of times.

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
  kTitle,  // `title:` right before something
  kSite,   // `site:` right before something
};

struct Lexeme {
  LexemeKind kind = LexemeKind::kEnd;
  std::string_view text = {};  // kWord; kQuotation without its marks
  size_t at = 0;               // byte in the query
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
