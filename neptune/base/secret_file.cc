#include "neptune/base/secret_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "neptune/base/descriptor.h"
#include "neptune/base/file.h"
#include "neptune/base/wipe.h"

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

Status MakeFoldersFor(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
      return ErrnoStatus(errno, "make", folder);
    }
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::string> RandomSecretLine() {
  constexpr size_t kRandomSize = 32;
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<unsigned char, kRandomSize> bytes{};
  if (getentropy(bytes.data(), bytes.size()) != 0) {
    return ErrnoStatus(errno, "get random bytes for", "a secret");
  }
  std::string line;
  line.reserve(2 * kRandomSize + 1);
  for (const unsigned char byte : bytes) {
    line += kDigits[byte >> 4];
    line += kDigits[byte & 15];
  }
  line += '\n';
  explicit_bzero(bytes.data(), bytes.size());
  return line;
}

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

Status MakeSecretFile(const std::string& path) {
  if (access(path.c_str(), F_OK) == 0) return OkStatus();
  NEPTUNE_RETURN_IF_ERROR(MakeFoldersFor(path));
  NEPTUNE_ASSIGN_OR_RETURN(std::string line, RandomSecretLine());
  const WipeAtEnd wipe(&line);
  // Whole before it has its name, which is not taken from another that has it already.
  std::string beside = path + ".XXXXXX";
  const Descriptor file(mkostemp(beside.data(), O_CLOEXEC));
  if (!file.open()) return ErrnoStatus(errno, "create temporary file for", path);
  Status status;
  const ssize_t written = write(file.number(), line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size())) {
    status = ErrnoStatus(written < 0 ? errno : ENOSPC, "write", beside);
  } else if (fsync(file.number()) != 0) {
    status = ErrnoStatus(errno, "sync", beside);
  } else if (link(beside.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    status = ErrnoStatus(errno, "make", path);
  }
  unlink(beside.c_str());
  return status;
}

Status ForbidCoreFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return ErrnoStatus(errno, "get limit of", "core files");
  // A limit of 1 byte writes no file, and Linux gives nothing to a program that core_pattern names;
  // with 0 it would get everything. A limit of 0 cannot be raised.
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, 1);
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_CORE, &limit) != 0) return ErrnoStatus(errno, "set limit of", "core files");
  return OkStatus();
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
