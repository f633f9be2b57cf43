// Checksums of files: XXH3 to detect damage, SHA-256 to verify files from other parties.
//
// Threads: pure functions.
// Errors: kNotFound, kUnavailable reading failed.

#pragma once

#include <cstdint>
#include <string>

#include "neptune/base/status.h"

namespace search::tools {

struct FileDigest {
  uint64_t size = 0;
  std::string xxh3;  // 16 hexadecimal digits

  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};

// Digest of the file's bytes as they are on disk.
neptune::StatusOr<FileDigest> DigestFile(const std::string& path);

// SHA-256 in 64 lower-case hexadecimal digits.
neptune::StatusOr<std::string> Sha256OfFile(const std::string& path);

}  // namespace search::tools
