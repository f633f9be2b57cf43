// String concatenation for std::string_view and the project's own ids in addition to numbers and
// text.
//
// Threads: pure functions.
// The system's Abseil has its own string_view class; this header converts between the two.

#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace neptune {

inline std::string_view ToStd(absl::string_view text) { return {text.data(), text.size()}; }
inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

namespace internal {
// Converts `value` to something absl::StrCat accepts: views become Abseil's, ids their value.
template <typename T>
decltype(auto) Piece(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return ToAbsl(value);
  } else if constexpr (requires { value.value(); }) {
    return Piece(value.value());
  } else if constexpr (std::is_same_v<T, char>) {
    return std::string(1, value);
  } else {
    return value;
  }
}
}  // namespace internal

// The concatenation of the arguments: text, numbers, ids.
template <typename... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(internal::Piece(args)...);
}

template <typename... Args>
void StrAppend(std::string* out, const Args&... args) {
  absl::StrAppend(out, internal::Piece(args)...);
}

}  // namespace neptune
