// Sealed directories: a directory of files that never change again, with a checksum file (the
// seal).
//
// Opening checks the seal and finds lost, truncated and swapped files, and flipped bits in small
// files and at the ends of large ones.
// Use it for foreign file formats, which detect such damage late or not at all. By default the
// bytes before the last kSealTailSize of a large file are left to the format's own checksums; with
// SealExtent::kWholeFiles they are covered too, and opening reads every byte.
//
// Threads: pure functions over files that are not being written; they block the kernel thread.
// Format: text lines: the description; "NAME SIZE CHECKSUM" for each file, ordered by name;
//   "checksum CHECKSUM" over all lines before it. CHECKSUM is Checksum64 in hexadecimal over the
//   last kSealTailSize bytes of the file, or over the whole file if the word "whole" precedes it.
// Errors: NOT_FOUND there is no seal; DATA_LOSS the seal or a file has changed since it was sealed;
//   INVALID_ARGUMENT the description or a file name contains a line break; otherwise as file.h.
// Limits: the seal has at most kSealSizeMax bytes. Files added later are not detected;
//   subdirectories are not sealed.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kSealTailSize = size_t{64} << 10;
inline constexpr size_t kSealSizeMax = size_t{16} << 20;

enum class SealExtent {
  kEnds,        // for formats whose readers verify what they read
  kWholeFiles,  // for all other formats
};

// Seals every regular file that is in `directory` now. The seal is the file `seal_name` in it,
// replaced if it exists. `description` is one line chosen by the caller.
Status SealDirectory(const std::string& directory, std::string_view seal_name,
                     std::string_view description, SealExtent extent = SealExtent::kEnds);

// Returns the description if every sealed file is unchanged.
StatusOr<std::string> CheckSealedDirectory(const std::string& directory,
                                           std::string_view seal_name);

}  // namespace neptune
