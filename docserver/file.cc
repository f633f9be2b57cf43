#include "docserver/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace search::docserver {
namespace {

constexpr size_t kBufferSize = 1u << 20;

neptune::Status WriteAll(int descriptor, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus("write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return neptune::OkStatus();
}

}  // namespace

neptune::Status ErrnoStatus(std::string_view action, std::string_view path) {
  const int error = errno;
  const std::string message = neptune::StrCat(action, " ", path, ": ", strerror(error));
  if (error == ENOENT || error == ENOTDIR) return neptune::NotFound(message);
  return neptune::Unavailable(message);
}

OutputFile::OutputFile(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)) {
  buffer_.reserve(kBufferSize);
}

neptune::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return ErrnoStatus("create", path);
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
  if (fsync(descriptor_) != 0) return ErrnoStatus("sync", path_);
  if (close(std::exchange(descriptor_, -1)) != 0) return ErrnoStatus("close", path_);
  return neptune::OkStatus();
}

neptune::StatusOr<std::unique_ptr<MappedFile>> MappedFile::Open(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return ErrnoStatus("open", path);
  struct stat info {};
  if (fstat(descriptor, &info) != 0) {
    const neptune::Status status = ErrnoStatus("stat", path);
    close(descriptor);
    return status;
  }
  const size_t size = static_cast<size_t>(info.st_size);
  void* data = nullptr;
  if (size > 0) data = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  const neptune::Status status =
      data == MAP_FAILED ? ErrnoStatus("map", path) : neptune::OkStatus();
  close(descriptor);
  if (!status.ok()) return status;
  return std::unique_ptr<MappedFile>(new MappedFile(static_cast<const char*>(data), size));
}

MappedFile::~MappedFile() {
  if (size_ > 0) munmap(const_cast<char*>(data_), size_);
}

neptune::Status SyncDirectory(const std::string& directory) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return ErrnoStatus("open directory", directory);
  const neptune::Status status =
      fsync(descriptor) == 0 ? neptune::OkStatus() : ErrnoStatus("sync directory", directory);
  close(descriptor);
  return status;
}

neptune::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  const std::string draft = path + ".tmp";
  NEPTUNE_ASSIGN_OR_RETURN(auto file, OutputFile::Create(draft));
  NEPTUNE_RETURN_IF_ERROR(file->Append(bytes));
  NEPTUNE_RETURN_IF_ERROR(file->SyncAndClose());
  if (rename(draft.c_str(), path.c_str()) != 0) return ErrnoStatus("rename to", path);
  return SyncDirectory(std::filesystem::path(path).parent_path().string());
}

}  // namespace search::docserver
