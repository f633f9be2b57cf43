#include "tools/streams/file_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace search::tools {
namespace {

using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::Unavailable;

namespace fs = std::filesystem;

constexpr size_t kBufferSize = size_t{256} << 10;

class PlainSink : public FileSink {
 public:
  PlainSink(std::string path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {
    buffer_.reserve(kBufferSize);
  }
  ~PlainSink() override {
    if (fd_ >= 0) close(fd_);
    if (!committed_) unlink(temporary_.c_str());
  }

  Status Write(std::string_view bytes) override {
    if (buffer_.size() + bytes.size() > kBufferSize) NEPTUNE_RETURN_IF_ERROR(Flush());
    if (bytes.size() > kBufferSize) return WriteOut(bytes);
    buffer_.append(bytes);
    return OkStatus();
  }

  Status Commit() override {
    NEPTUNE_RETURN_IF_ERROR(Flush());
    if (fsync(fd_) != 0) return Failure("syncing");
    const int closed = close(fd_);
    fd_ = -1;
    if (closed != 0) return Failure("closing");
    if (rename(temporary_.c_str(), path_.c_str()) != 0) return Failure("renaming");
    committed_ = true;
    return SyncFolder(fs::path(path_).parent_path());
  }

 private:
  Status Failure(std::string_view doing) const {
    return Unavailable(doing, " ", temporary_, ": ", strerror(errno));
  }

  Status Flush() {
    const Status written = WriteOut(buffer_);
    buffer_.clear();
    return written;
  }

  Status WriteOut(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put = write(fd_, bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return Failure("writing");
      bytes.remove_prefix(static_cast<size_t>(put));
    }
    return OkStatus();
  }

  const std::string path_;
  const std::string temporary_;
  int fd_;
  std::string buffer_;
  bool committed_ = false;
};

class GzipSink : public FileSink {
 public:
  GzipSink(std::unique_ptr<FileSink> below, int level)
      : below_(std::move(below)), out_(kBufferSize) {
    ready_ = deflateInit2(&stream_, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipSink() override {
    if (ready_) deflateEnd(&stream_);
  }

  Status Write(std::string_view bytes) override { return Deflate(bytes, Z_NO_FLUSH); }
  Status Commit() override {
    NEPTUNE_RETURN_IF_ERROR(Deflate({}, Z_FINISH));
    return below_->Commit();
  }

 private:
  Status Deflate(std::string_view bytes, int flush) {
    if (!ready_) return neptune::ResourceExhausted("cannot start zlib");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      deflate(&stream_, flush);
      NEPTUNE_RETURN_IF_ERROR(below_->Write({out_.data(), out_.size() - stream_.avail_out}));
    } while (stream_.avail_out == 0);
    return OkStatus();
  }

  std::unique_ptr<FileSink> below_;
  std::vector<char> out_;
  z_stream stream_{};
  bool ready_ = false;
};

class ZstdSink : public FileSink {
 public:
  ZstdSink(std::unique_ptr<FileSink> below, int level)
      : below_(std::move(below)), context_(ZSTD_createCCtx(), &ZSTD_freeCCtx), out_(kBufferSize) {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  Status Write(std::string_view bytes) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (in.pos < in.size) NEPTUNE_RETURN_IF_ERROR(Step(&in, ZSTD_e_continue).status());
    return OkStatus();
  }
  Status Commit() override {
    ZSTD_inBuffer in{nullptr, 0, 0};
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const size_t left, Step(&in, ZSTD_e_end));
      if (left == 0) return below_->Commit();
    }
  }

 private:
  StatusOr<size_t> Step(ZSTD_inBuffer* in, ZSTD_EndDirective directive) {
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    const size_t left = ZSTD_compressStream2(context_.get(), &out, in, directive);
    if (ZSTD_isError(left)) return neptune::Internal("zstd: ", ZSTD_getErrorName(left));
    NEPTUNE_RETURN_IF_ERROR(below_->Write({out_.data(), out.pos}));
    return left;
  }

  std::unique_ptr<FileSink> below_;
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context_;
  std::vector<char> out_;
};

}  // namespace

Packing PackingOfName(std::string_view path) {
  if (path.ends_with(".zst")) return Packing::kZstd;
  if (path.ends_with(".gz")) return Packing::kGzip;
  return Packing::kNone;
}

StatusOr<std::unique_ptr<FileSink>> CreateFileSink(const std::string& path, Packing packing,
                                                   int level) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) return Unavailable("creating folder ", folder.string(), ": ", error.message());
  const std::string temporary = path + ".partial";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return Unavailable("creating ", temporary, ": ", strerror(errno));
  std::unique_ptr<FileSink> sink = std::make_unique<PlainSink>(path, temporary, fd);
  if (packing == Packing::kGzip) return std::make_unique<GzipSink>(std::move(sink), level);
  if (packing == Packing::kZstd) return std::make_unique<ZstdSink>(std::move(sink), level);
  return sink;
}

Status WriteWholeFile(const std::string& path, std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto sink, CreateFileSink(path, Packing::kNone));
  NEPTUNE_RETURN_IF_ERROR(sink->Write(bytes));
  return sink->Commit();
}

Status SyncFolder(const std::string& folder) {
  const std::string name = folder.empty() ? "." : folder;
  const int fd = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Unavailable("opening folder ", name, ": ", strerror(errno));
  const int result = fsync(fd);
  const int error = errno;
  close(fd);
  // Some file systems do not sync folders; their renames are as durable as they get.
  if (result != 0 && error != EINVAL) {
    return Unavailable("syncing folder ", name, ": ", strerror(error));
  }
  return OkStatus();
}

}  // namespace search::tools
