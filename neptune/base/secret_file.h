// A secret that a file holds: one line, readable by nobody but its owner.
//
// Source: none. Layer: base. Threads: pure function; it reads a file and so blocks.
// Errors: those of ReadFile; FAILED_PRECONDITION others than the owner may read or change the file; INVALID_ARGUMENT
//   the secret is shorter than kSecretSizeMin or longer than kSecretSizeMax bytes, or holds more than
//   printable ASCII without spaces. No message shows the secret.

#pragma once

#include <cstddef>
#include <string>

#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kSecretSizeMin = 16;
inline constexpr size_t kSecretSizeMax = 1024;

// The file's contents without blanks and line ends around them.
StatusOr<std::string> LoadSecret(const std::string& path);

}  // namespace neptune
