// Words so common that a query's other words decide alone.
//
// Only words that name nothing in a programming language or a command: `for`, `if`, `not`, `this`,
// `in`, `is`, `as`, `with`, `by` or `from` are never left out, because people look them up.
//
// Threads: pure function.

#pragma once

#include <string_view>

namespace search::index {

// Whether the folded, unstemmed word is one.
bool IsStopWord(std::string_view folded);

}  // namespace search::index
