// Files that hold secrets: only their owner may read them, and core files are not written.
//
// Threads: pure functions; they use the file system and so block.
// Errors: those of ReadFile; FAILED_PRECONDITION users other than the owner may read or change the
//   file, the owner is neither this process's user nor root, or it is not a regular file.
//   LoadSecret also: INVALID_ARGUMENT the secret is shorter than kSecretSizeMin or longer than
//   kSecretSizeMax bytes, or contains anything but printable ASCII without spaces. No message shows
//   the secret.

#pragma once

#include <cstddef>
#include <string>

#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kSecretSizeMin = 16;
inline constexpr size_t kSecretSizeMax = 1024;

// Returns the contents of a file of at most size_max bytes that only its owner may use.
StatusOr<std::string> ReadOwnersFile(const std::string& path, size_t size_max);

// Returns a one-line secret: the file's contents without surrounding spaces and line ends.
StatusOr<std::string> LoadSecret(const std::string& path);

// Returns 256 random bits as a line of 64 hexadecimal digits.
// Errors: kUnavailable the system has no random bytes.
StatusOr<std::string> RandomSecretLine();

// Creates a secret, a RandomSecretLine that its owner only may read, and the folders on its path
// for their owner only. An existing file is left as it is; of several that create it at the same
// time one does, and all find its secret.
// Errors: those of WriteFileAtomically.
Status MakeSecretFile(const std::string& path);

// Core files hold the secrets of a process, and what its clients sent: from now on neither it nor
// its child processes write any, for good. Where the system pipes core files to a program
// (core_pattern), that program gets none either.
// Errors: kFailedPrecondition the system refuses.
Status ForbidCoreFiles();

}  // namespace neptune
