#include "tools/cluster/cluster_secrets.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "neptune/base/file.h"
#include "neptune/base/secret_file.h"
#include "neptune/security/cluster_key.h"

namespace search::tools {
namespace {

using neptune::ErrnoStatus;
using neptune::Status;
using neptune::StatusOr;

constexpr size_t kRandomSize = 32;

std::string HexOf(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

StatusOr<std::string> RandomLine() {
  std::array<char, kRandomSize> bytes{};
  if (getentropy(bytes.data(), bytes.size()) != 0) {
    return ErrnoStatus(errno, "getting random bytes for", "a secret");
  }
  return HexOf({bytes.data(), bytes.size()}) + '\n';
}

Status WriteNew(const std::filesystem::path& path, const std::string& contents) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return ErrnoStatus(errno, "making", path.string());
  const ssize_t written = write(file, contents.data(), contents.size());
  close(file);
  if (written == static_cast<ssize_t>(contents.size())) return neptune::OkStatus();
  std::filesystem::remove(path, error);
  return neptune::Unavailable("writing ", path.string(), ": no space left");
}

// Creates the file unless it exists, in which case `check` validates it.
template <typename Check>
Status MakeSecret(const std::string& spec_path, const std::string& file, Check check) {
  if (file.empty()) return neptune::OkStatus();
  const std::filesystem::path path = std::filesystem::absolute(spec_path).parent_path() / file;
  std::error_code error;
  if (std::filesystem::exists(path, error)) return check(path.string());
  NEPTUNE_ASSIGN_OR_RETURN(const std::string line, RandomLine());
  return WriteNew(path, line);
}

}  // namespace

Status MakeClusterSecrets(const neptune::ClusterSpec& spec, const std::string& spec_path) {
  NEPTUNE_RETURN_IF_ERROR(
      MakeSecret(spec_path, spec.admin_token_file(),
                 [](const std::string& path) { return neptune::LoadSecret(path).status(); }));
  return MakeSecret(spec_path, spec.cluster_key_file(), [](const std::string& path) {
    return neptune::LoadClusterKeys(path).status();
  });
}

Status ChangeClusterKey(const std::string& path, bool finish) {
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::ClusterKeys now, neptune::LoadClusterKeys(path));
  const bool under_way = now.keys().size() > 1;
  if (under_way != finish) {
    return neptune::FailedPrecondition(path, under_way
                                                 ? " holds two keys; finish that key change first"
                                                 : " holds one key; no key change is under way");
  }
  std::string contents = HexOf(now.keys()[0]) + '\n';
  if (!finish) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string fresh, RandomLine());
    contents = fresh + contents;
  }
  const std::filesystem::path beside = path + ".new";
  std::error_code error;
  std::filesystem::remove(beside, error);
  NEPTUNE_RETURN_IF_ERROR(WriteNew(beside, contents));
  std::filesystem::rename(beside, path, error);
  if (error) return neptune::Unavailable("replacing ", path, ": ", error.message());
  return neptune::OkStatus();
}

}  // namespace search::tools
