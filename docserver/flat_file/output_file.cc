#include "docserver/flat_file/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "neptune/base/file.h"

namespace search::docserver {
namespace {

constexpr size_t kBufferSize = 1u << 20;

neptune::Status WriteAll(int descriptor, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return neptune::ErrnoStatus(errno, "write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return neptune::OkStatus();
}

}  // namespace

OutputFile::OutputFile(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)) {
  buffer_.reserve(kBufferSize);
}

neptune::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return neptune::ErrnoStatus(errno, "create", path);
  return std::unique_ptr<OutputFile>(new OutputFile(descriptor, path));
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

neptune::Status OutputFile::Flush() {
  NEPTUNE_RETURN_IF_ERROR(WriteAll(descriptor_, buffer_, path_));
  buffer_.clear();
  return neptune::OkStatus();
}

neptune::Status OutputFile::Append(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferSize) NEPTUNE_RETURN_IF_ERROR(Flush());
  size_ += bytes.size();
  if (bytes.size() > kBufferSize) return WriteAll(descriptor_, bytes, path_);
  buffer_.append(bytes);
  return neptune::OkStatus();
}

neptune::Status OutputFile::SyncAndClose() {
  NEPTUNE_RETURN_IF_ERROR(Flush());
  if (fsync(descriptor_) != 0) return neptune::ErrnoStatus(errno, "sync", path_);
  if (close(std::exchange(descriptor_, -1)) != 0)
    return neptune::ErrnoStatus(errno, "close", path_);
  return neptune::OkStatus();
}

}  // namespace search::docserver
