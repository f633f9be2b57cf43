#include "neptune/base/secret_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "neptune/base/file.h"

namespace neptune {

StatusOr<std::string> ReadOwnersFile(const std::string& path, size_t size_max) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return ErrnoStatus(errno, "reading", path);
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return FailedPrecondition("secret ", path,
                              ": users other than its owner have access; chmod 600");
  }
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    return FailedPrecondition("secret ", path, ": its owner is neither this user nor root");
  }
  return ReadFile(path, size_max);
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
