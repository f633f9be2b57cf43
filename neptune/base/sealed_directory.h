// A folder whose files never change again, and a seal by which damage to it is found when it is
// opened: lost, cut and exchanged files, and flipped bits in small files and at the ends of large
// ones.
//
// For folders of foreign formats, which notice such damage late or not at all. What lies before the
// last kSealTailSize bytes of a large file is left to the format's own checksums, or covered too
// (SealExtent): then opening reads every byte.
//
// Threads: pure functions over files that nobody writes; they block the kernel thread.
// Format: text lines: the description; "NAME SIZE CHECKSUM" for every file, by name; "checksum
// CHECKSUM"
//   of all before. Checksums are Checksum64 in hexadecimal, a file's over its last kSealTailSize
//   bytes, or over all if "whole" stands before CHECKSUM.
// Errors: NOT_FOUND no seal; DATA_LOSS the seal or a file is not what was sealed; INVALID_ARGUMENT
// a
//   description or name with a line break; else as file.h.
// Limits: kSealSizeMax bytes of seal. Files added later are not noticed; subfolders are not sealed.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace neptune {

inline constexpr size_t kSealTailSize = size_t{64} << 10;
inline constexpr size_t kSealSizeMax = size_t{16} << 20;

enum class SealExtent {
  kEnds,        // of a format whose readers check what they read
  kWholeFiles,  // of any other
};

// Seals every regular file now in `directory`, with the file `seal_name` there, replaced if it
// exists. `description` is one line of the caller's own.
Status SealDirectory(const std::string& directory, std::string_view seal_name,
                     std::string_view description, SealExtent extent = SealExtent::kEnds);

// The description, if every sealed file is as it was.
StatusOr<std::string> CheckSealedDirectory(const std::string& directory,
                                           std::string_view seal_name);

}  // namespace neptune
