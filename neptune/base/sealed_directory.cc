#include "neptune/base/sealed_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_format.h"
#include "neptune/base/checksum.h"
#include "neptune/base/file.h"

namespace neptune {
namespace {

constexpr std::string_view kLastWord = "checksum ";
constexpr std::string_view kWholeWord = " whole ";
constexpr size_t kLastLineSize = kLastWord.size() + 16 + 1;

std::string HexChecksum(std::string_view bytes) {
  return absl::StrFormat("%016x", Checksum64(bytes));
}

// Returns the seal's line for one file.
StatusOr<std::string> DescribeFile(const std::string& directory, std::string_view name,
                                   SealExtent extent) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(StrCat(directory, "/", name)));
  const std::string_view bytes = file.bytes();
  if (extent == SealExtent::kWholeFiles) {
    return StrCat(name, " ", bytes.size(), kWholeWord, HexChecksum(bytes), "\n");
  }
  const std::string_view tail = bytes.substr(bytes.size() - std::min(bytes.size(), kSealTailSize));
  return StrCat(name, " ", bytes.size(), " ", HexChecksum(tail), "\n");
}

StatusOr<std::vector<std::string>> RegularFiles(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_regular_file(error)) names.push_back(entry->path().filename().string());
  }
  if (error) return Unavailable("list ", directory, ": ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

// The description (first line) and the file lines (between the first and the last) of a valid seal.
struct Seal {
  std::string_view description;
  std::string_view files;
};

StatusOr<Seal> ParseSeal(std::string_view bytes, std::string_view path) {
  if (bytes.size() < kLastLineSize) return DataLoss(path, ": the seal is damaged");
  const std::string_view body = bytes.substr(0, bytes.size() - kLastLineSize);
  const size_t line_end = body.find('\n');
  if (line_end == std::string_view::npos ||
      bytes.substr(body.size()) != StrCat(kLastWord, HexChecksum(body), "\n")) {
    return DataLoss(path, ": the seal is damaged");
  }
  return Seal{body.substr(0, line_end), body.substr(line_end + 1)};
}

Status CheckFile(const std::string& directory, std::string_view line) {
  const size_t checksum = line.rfind(' ') + 1;
  const bool is_whole = line.substr(0, checksum).ends_with(kWholeWord);
  const size_t size_end = is_whole ? checksum - kWholeWord.size() : checksum - 1;
  const std::string_view name = line.substr(0, line.rfind(' ', size_end - 1));
  const StatusOr<std::string> now =
      DescribeFile(directory, name, is_whole ? SealExtent::kWholeFiles : SealExtent::kEnds);
  if (now.status().code() == StatusCode::kNotFound) {
    return DataLoss(directory, "/", name, " is missing");
  }
  NEPTUNE_RETURN_IF_ERROR(now);
  if (*now != line) return DataLoss(directory, "/", name, " is not as it was sealed");
  return OkStatus();
}

}  // namespace

Status SealDirectory(const std::string& directory, std::string_view seal_name,
                     std::string_view description, SealExtent extent) {
  if (description.find('\n') != std::string_view::npos) {
    return InvalidArgument("seal ", directory, ": description has several lines");
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto names, RegularFiles(directory));
  std::string body = StrCat(description, "\n");
  for (const std::string& name : names) {
    if (name == seal_name) continue;
    if (name.find('\n') != std::string::npos) {
      return InvalidArgument("seal ", directory, ": a file name contains a line break");
    }
    NEPTUNE_ASSIGN_OR_RETURN(const std::string line, DescribeFile(directory, name, extent));
    body += line;
  }
  const std::string seal = StrCat(body, kLastWord, HexChecksum(body), "\n");
  if (seal.size() > kSealSizeMax) return ResourceExhausted("seal ", directory, ": too many files");
  return WriteFileAtomically(StrCat(directory, "/", seal_name), seal);
}

StatusOr<std::string> CheckSealedDirectory(const std::string& directory,
                                           std::string_view seal_name) {
  const std::string path = StrCat(directory, "/", seal_name);
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kSealSizeMax));
  NEPTUNE_ASSIGN_OR_RETURN(const Seal seal, ParseSeal(bytes, path));
  for (std::string_view files = seal.files; !files.empty();) {
    const std::string_view line = files.substr(0, files.find('\n') + 1);
    NEPTUNE_RETURN_IF_ERROR(CheckFile(directory, line));
    files.remove_prefix(line.size());
  }
  return std::string(seal.description);
}

}  // namespace neptune
