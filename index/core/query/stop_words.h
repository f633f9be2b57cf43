// Words that are left out because they are so common that the other words of the query decide.
//
// Only words that name nothing in a programming language or a command: `for`, `if`, `not`, `this`,
// `in`, `is`, `as`, `with`, `by` or `from` are never left out, because people search for them.
//
// Threads: pure function.

#pragma once

#include <string_view>

namespace search::index {

// True if the folded, unstemmed word is a stop word.
bool IsStopWord(std::string_view folded);

}  // namespace search::index
