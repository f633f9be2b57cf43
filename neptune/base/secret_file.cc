#include "neptune/base/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "neptune/base/descriptor.h"
#include "neptune/base/file.h"

namespace neptune {
namespace {

Status CheckOwner(const Descriptor& file, const std::string& path) {
  struct stat status {};
  if (fstat(file.number(), &status) != 0) return ErrnoStatus(errno, "look up", path);
  if (!S_ISREG(status.st_mode)) {
    return FailedPrecondition("secret ", path, ": not a regular file");
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return FailedPrecondition("secret ", path,
                              ": users other than its owner have access; chmod 600");
  }
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    return FailedPrecondition("secret ", path, ": its owner is neither this user nor root");
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::string> ReadOwnersFile(const std::string& path, size_t size_max) {
  // The file that is checked is the one that is read. A pipe without a writer must not hang the
  // start of a node.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.open()) return ErrnoStatus(errno, "open", path);
  NEPTUNE_RETURN_IF_ERROR(CheckOwner(file, path));
  // Never grows, which would leave copies of the secret in freed memory.
  std::string bytes(size_max + 1, '\0');
  size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = read(file.number(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, "read", path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > size_max) return ResourceExhausted("read ", path, ": more than ", size_max, " bytes");
  bytes.resize(size);
  return bytes;
}

StatusOr<std::string> LoadSecret(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(std::string secret, ReadOwnersFile(path, 2 * kSecretSizeMax));
  secret.erase(0, secret.find_first_not_of(" \t\r\n"));
  secret.erase(secret.find_last_not_of(" \t\r\n") + 1);
  if (secret.size() < kSecretSizeMin || secret.size() > kSecretSizeMax) {
    return InvalidArgument("secret ", path, " has ", secret.size(), " bytes, expected ",
                           kSecretSizeMin, " to ", kSecretSizeMax);
  }
  const bool printable =
      std::all_of(secret.begin(), secret.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!printable)
    return InvalidArgument("secret ", path,
                           " has characters other than printable ASCII without spaces");
  return secret;
}

}  // namespace neptune
