#include "index/core/segment/file_appender.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace search::index {
namespace {

constexpr size_t kBufferSize = size_t{64} << 10;

}  // namespace

FileAppender::~FileAppender() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

neptune::Status FileAppender::Create(const std::string& path) {
  path_ = path;
  descriptor_ = ::open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);
  if (descriptor_ < 0) Fail("create");
  buffer_.reserve(kBufferSize);
  return status_;
}

void FileAppender::Append(std::string_view bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferSize) Flush();
  if (bytes.size() >= kBufferSize) {
    Write(bytes, flushed_);
    flushed_ += bytes.size();
  } else {
    buffer_.append(bytes);
  }
}

void FileAppender::WriteAt(uint64_t offset, std::string_view bytes) {
  Flush();
  Write(bytes, offset);
}

neptune::Status FileAppender::Close(bool durable) {
  Flush();
  if (durable && status_.ok() && ::fsync(descriptor_) != 0) Fail("sync");
  if (descriptor_ >= 0 && ::close(descriptor_) != 0) Fail("close");
  descriptor_ = -1;
  return status_;
}

void FileAppender::Flush() {
  Write(buffer_, flushed_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

void FileAppender::Write(std::string_view bytes, uint64_t offset) {
  while (!bytes.empty() && status_.ok()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Fail("write");
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
}

void FileAppender::Fail(std::string_view doing) {
  if (status_.ok()) {
    status_ = neptune::Unavailable("cannot ", doing, " ", path_, ": ", std::strerror(errno));
  }
}

}  // namespace search::index
