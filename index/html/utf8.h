// Makes external text valid UTF-8. Decodes with neptune/base/utf8.h; valid text, which is the usual
// case, is recognized by simdjson.
//
// Source: the Unicode standard, 3.9 (substitution of maximal subparts); WHATWG Encoding
//   (windows-1252 is what pages mean by iso-8859-1).
// Threads: pure functions.

#pragma once

#include <string>
#include <string_view>

namespace search::html {

bool IsValidUtf8(std::string_view bytes);

// Replaces each invalid sequence by U+FFFD; valid text is returned unchanged.
std::string ReplaceInvalidUtf8(std::string_view bytes);

std::string Windows1252ToUtf8(std::string_view bytes);

// Collapses runs of white space and control characters to one space; trims both ends.
std::string CollapseSpace(std::string_view text);

}  // namespace search::html
