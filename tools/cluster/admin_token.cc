#include "tools/cluster/admin_token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "neptune/base/file.h"
#include "neptune/base/secret_file.h"

namespace search::tools {
namespace {

using neptune::ErrnoStatus;
using neptune::Status;
using neptune::StatusOr;

constexpr size_t kRandomSize = 32;

StatusOr<std::string> RandomLine() {
  std::array<unsigned char, kRandomSize> bytes{};
  if (getentropy(bytes.data(), bytes.size()) != 0) {
    return ErrnoStatus(errno, "getting random bytes for", "an admin token");
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string line;
  for (const unsigned char byte : bytes) {
    line += kDigits[byte >> 4];
    line += kDigits[byte & 15];
  }
  return line + '\n';
}

}  // namespace

Status MakeAdminToken(const neptune::ClusterSpec& spec, const std::string& spec_path) {
  if (spec.admin_token_file().empty()) return neptune::OkStatus();
  const std::filesystem::path path =
      std::filesystem::absolute(spec_path).parent_path() / spec.admin_token_file();
  std::error_code error;
  if (std::filesystem::exists(path, error)) return neptune::LoadSecret(path.string()).status();
  NEPTUNE_ASSIGN_OR_RETURN(const std::string line, RandomLine());
  std::filesystem::create_directories(path.parent_path(), error);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return ErrnoStatus(errno, "making", path.string());
  const ssize_t written = write(file, line.data(), line.size());
  close(file);
  if (written == static_cast<ssize_t>(line.size())) return neptune::OkStatus();
  std::filesystem::remove(path, error);
  return neptune::Unavailable("writing ", path.string(), ": no room");
}

}  // namespace search::tools
