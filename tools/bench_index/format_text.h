// Columns of tables for people.
//
// Threads: pure functions.
// Limits: a piece of at most kFormattedSizeMax bytes; what is beyond is cut off.

#pragma once

#include <algorithm>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <string>

namespace search::tools {

inline constexpr size_t kFormattedSizeMax = 255;

// Appends what printf would print.
[[gnu::format(printf, 2, 3)]] inline void AppendFormatted(std::string* out, const char* format,
                                                          ...) {
  char text[kFormattedSizeMax + 1];
  std::va_list arguments;
  va_start(arguments, format);
  const int size = std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  if (size > 0) out->append(text, std::min<size_t>(static_cast<size_t>(size), kFormattedSizeMax));
}

}  // namespace search::tools
