#include "docserver/rocksdb/seal.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <system_error>

#include "absl/strings/str_format.h"
#include "docserver/file.h"

namespace search::docserver {
namespace {

constexpr size_t kTailSize = 64u << 10;
constexpr size_t kSealSizeMax = 16u << 20;
constexpr std::string_view kFirstWords = "neptune-document-store rocksdb 1 ";
constexpr std::string_view kLastWord = "checksum ";

std::string Hash(std::string_view bytes) {
  return absl::StrFormat("%016x", XXH3_64bits(bytes.data(), bytes.size()));
}

// What RocksDB needs for reading; its lock, logs and option dumps are not.
bool IsSealed(std::string_view name) {
  return name == "CURRENT" || name.starts_with("MANIFEST-") || name.ends_with(".sst");
}

neptune::StatusOr<std::string> DescribeFile(const std::string& path, std::string_view name) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  const std::string_view bytes = file->bytes();
  const std::string_view tail = bytes.substr(bytes.size() - std::min(bytes.size(), kTailSize));
  return neptune::StrCat(name, " ", bytes.size(), " ", Hash(tail), "\n");
}

// A line for each sealed file, by name.
neptune::StatusOr<std::string> DescribeFiles(const std::string& directory) {
  std::map<std::string, std::string> lines;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!IsSealed(name)) continue;
    NEPTUNE_ASSIGN_OR_RETURN(lines[name], DescribeFile(entry.path().string(), name));
  }
  if (error) return neptune::Unavailable("list ", directory, ": ", error.message());
  std::string description;
  for (const auto& [name, line] : lines) description += line;
  return description;
}

neptune::Status Damaged(const std::string& directory, std::string_view what) {
  return neptune::DataLoss("open RocksDB store ", directory, ": ", what);
}

}  // namespace

neptune::Status WriteSeal(const std::string& directory, uint64_t document_count) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string files, DescribeFiles(directory));
  const std::string body = neptune::StrCat(kFirstWords, document_count, "\n", files);
  return WriteFileAtomically(directory + "/" + kSealFileName,
                             neptune::StrCat(body, kLastWord, Hash(body), "\n"));
}

neptune::StatusOr<uint64_t> CheckSeal(const std::string& directory) {
  const auto seal_file = MappedFile::Open(directory + "/" + kSealFileName);
  if (seal_file.status().code() == neptune::StatusCode::kNotFound) {
    std::error_code error;
    if (!std::filesystem::exists(directory + "/CURRENT", error)) {
      return neptune::NotFound("open RocksDB store ", directory, ": there is none");
    }
    return neptune::FailedPrecondition("open RocksDB store ", directory, ": never sealed");
  }
  NEPTUNE_RETURN_IF_ERROR(seal_file.status());
  const std::string_view seal = (*seal_file)->bytes();
  const size_t last_line_size = kLastWord.size() + 16 + 1;
  if (seal.size() < last_line_size || seal.size() > kSealSizeMax) {
    return Damaged(directory, "damaged seal");
  }
  const std::string_view body = seal.substr(0, seal.size() - last_line_size);
  if (seal.substr(body.size()) != neptune::StrCat(kLastWord, Hash(body), "\n") ||
      !body.starts_with(kFirstWords)) {
    return Damaged(directory, "damaged seal");
  }
  const std::string_view counted = body.substr(kFirstWords.size());
  uint64_t document_count = 0;
  const auto parsed =
      std::from_chars(counted.data(), counted.data() + counted.size(), document_count);
  if (parsed.ec != std::errc() || *parsed.ptr != '\n') return Damaged(directory, "damaged seal");

  NEPTUNE_ASSIGN_OR_RETURN(const std::string files, DescribeFiles(directory));
  const std::string_view sealed(parsed.ptr + 1, body.data() + body.size());
  if (files != sealed) return Damaged(directory, "files are not as they were sealed");
  return document_count;
}

}  // namespace search::docserver
