// Any lines as the seal of a folder with two files, with the checksum made right: DATA_LOSS, or the
// description if it describes the files as they are. Nothing is written.

#include <glog/logging.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "neptune/base/checksum.h"
#include "neptune/base/file.h"
#include "neptune/base/sealed_directory.h"
#include "neptune/base/strings.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune {
namespace {

constexpr char kSealName[] = "SEAL";

FuzzPlace accepted("a seal is accepted");
FuzzPlace compared("a file is not as the seal says");

std::string Hex(uint64_t number) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[number >> shift & 15];
  return text;
}

class Folder {
 public:
  Folder() {
    const char* parent = std::getenv("TEST_TMPDIR");
    path_ = StrCat(parent == nullptr ? "/tmp" : parent, "/sealed_directory_fuzz.",
                   static_cast<int64_t>(::getpid()));
    std::filesystem::create_directories(path_);
    for (const char* const name : {"a", "b c"}) {
      CHECK(WriteFileAtomically(StrCat(path_, "/", name), StrCat("contents of ", name)).ok());
    }
    CHECK(SealDirectory(path_, kSealName, "whole").ok());
    right_ = *ReadFile(StrCat(path_, "/", kSealName), kSealSizeMax);
  }

  // The right seal without its last line, in which the checksum is.
  std::string_view right_lines() const {
    return std::string_view(right_).substr(0, right_.rfind("checksum "));
  }

  void Check(std::string_view seal) const {
    // Not synced, as WriteFileAtomically would.
    std::ofstream(StrCat(path_, "/", kSealName), std::ios::binary | std::ios::trunc) << seal;
    const StatusOr<std::string> description = CheckSealedDirectory(path_, kSealName);
    if (description.ok()) {
      accepted.Reach();
      CHECK(seal.starts_with(*description));
      return;
    }
    const std::string_view message = ToStd(description.status().message());
    if (message.find("not as it was sealed") != std::string_view::npos) compared.Reach();
  }

 private:
  std::string path_;
  std::string right_;
};

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace neptune;
  static const Folder folder;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  folder.Check(bytes);
  // The bytes as lines before those of the files, and instead of them.
  for (const std::string& lines :
       {StrCat(bytes, "\n", folder.right_lines()), StrCat("whole\n", bytes, "\n"),
        StrCat(bytes, folder.right_lines())}) {
    folder.Check(StrCat(lines, "checksum ", Hex(Checksum64(lines)), "\n"));
  }
  return 0;
}
