// Syntax of other search engines that this query language does not have, so that a note says what
// happens to it instead.
//
// Threads: pure function.

#pragma once

#include <string>
#include <string_view>

namespace search::index {

// A sentence for the user if `word`, as typed, uses such syntax: `intitle:x`, `word~`, `w?rd`,
// `wo*rd`, `NEAR/x`. Empty if it does not.
std::string ForeignSyntaxNote(std::string_view word);

}  // namespace search::index
