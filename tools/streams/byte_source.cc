#include "tools/streams/byte_source.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace search::tools {
namespace {

using neptune::DataLoss;
using neptune::NotFound;
using neptune::ResourceExhausted;
using neptune::Status;
using neptune::StatusOr;
using neptune::Unavailable;

constexpr size_t kInputSize = size_t{256} << 10;
constexpr int kZstdWindowLogMax = 27;

// The raw bytes of a file descriptor, buffered, so that a decoder can look at the first ones.
class RawFile {
 public:
  RawFile(std::string path, int fd) : path_(std::move(path)), fd_(fd), buffer_(kInputSize) {}
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile() {
    if (fd_ > STDIN_FILENO) close(fd_);
  }

  // Makes pending() non-empty unless the file has ended.
  Status Fill() {
    if (begin_ < end_) return neptune::OkStatus();
    begin_ = end_ = 0;
    return Append();
  }

  // Reads until `size` bytes are pending or the file ends; for magic numbers. REQUIRES: size small.
  Status Expect(size_t size) {
    size_t before = end_ + 1;
    while (end_ - begin_ < size && before != end_) {
      before = end_;
      NEPTUNE_RETURN_IF_ERROR(Append());
    }
    return neptune::OkStatus();
  }

  std::string_view pending() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void Consume(size_t size) { begin_ += size; }
  uint64_t position() const { return read_ - (end_ - begin_); }
  const std::string& path() const { return path_; }

 private:
  Status Append() {
    ssize_t got;
    do {
      got = read(fd_, buffer_.data() + end_, buffer_.size() - end_);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return Unavailable("reading ", path_, ": ", strerror(errno));
    end_ += static_cast<size_t>(got);
    read_ += static_cast<uint64_t>(got);
    return neptune::OkStatus();
  }

  const std::string path_;
  const int fd_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t read_ = 0;
};

class PlainSource : public ByteSource {
 public:
  explicit PlainSource(std::unique_ptr<RawFile> file) : file_(std::move(file)) {}

  StatusOr<size_t> Read(char* buffer, size_t size) override {
    NEPTUNE_RETURN_IF_ERROR(file_->Fill());
    const size_t taken = std::min(size, file_->pending().size());
    memcpy(buffer, file_->pending().data(), taken);
    file_->Consume(taken);
    return taken;
  }
  uint64_t file_position() const override { return file_->position(); }

 private:
  std::unique_ptr<RawFile> file_;
};

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<RawFile> file) : file_(std::move(file)) {}
  ~GzipSource() override {
    if (initialised_) inflateEnd(&stream_);
  }

  StatusOr<size_t> Read(char* buffer, size_t size) override {
    while (true) {
      NEPTUNE_RETURN_IF_ERROR(file_->Fill());
      if (file_->pending().empty()) {
        if (in_member_) return DataLoss(file_->path(), ": gzip data ends too early");
        return size_t{0};
      }
      if (!in_member_) NEPTUNE_RETURN_IF_ERROR(StartMember());
      NEPTUNE_ASSIGN_OR_RETURN(const size_t made, Inflate(buffer, size));
      if (made > 0) return made;
    }
  }
  uint64_t file_position() const override { return file_->position(); }

 private:
  Status StartMember() {
    const int result = initialised_ ? inflateReset(&stream_) : inflateInit2(&stream_, 15 + 16);
    if (result != Z_OK) return ResourceExhausted(file_->path(), ": cannot start zlib");
    initialised_ = in_member_ = true;
    return neptune::OkStatus();
  }

  StatusOr<size_t> Inflate(char* buffer, size_t size) {
    const std::string_view in = file_->pending();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1u << 30));
    const uInt room = stream_.avail_out;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    file_->Consume(in.size() - stream_.avail_in);
    if (result == Z_STREAM_END) {
      in_member_ = false;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return DataLoss(file_->path(), ": damaged gzip data at byte ", file_->position());
    }
    return room - stream_.avail_out;
  }

  std::unique_ptr<RawFile> file_;
  z_stream stream_{};
  bool initialised_ = false;
  bool in_member_ = false;
};

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<RawFile> file)
      : file_(std::move(file)), context_(ZSTD_createDCtx(), &ZSTD_freeDCtx) {
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax);
  }

  StatusOr<size_t> Read(char* buffer, size_t size) override {
    ZSTD_outBuffer out{buffer, size, 0};
    while (out.pos == 0) {
      NEPTUNE_RETURN_IF_ERROR(file_->Fill());
      const bool ended = file_->pending().empty();
      if (ended && !in_frame_) return size_t{0};
      ZSTD_inBuffer in{file_->pending().data(), file_->pending().size(), 0};
      const size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
      if (ZSTD_isError(result)) {
        return DataLoss(file_->path(), ": damaged zstd data at byte ", file_->position(), ": ",
                        ZSTD_getErrorName(result));
      }
      file_->Consume(in.pos);
      in_frame_ = result != 0;
      if (ended && out.pos == 0 && in_frame_) {
        return DataLoss(file_->path(), ": zstd data ends too early");
      }
    }
    return out.pos;
  }
  uint64_t file_position() const override { return file_->position(); }

 private:
  std::unique_ptr<RawFile> file_;
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context_;
  bool in_frame_ = false;
};

// Several consecutive streams, as written by packers that use several processors.
class Bzip2Source : public ByteSource {
 public:
  explicit Bzip2Source(std::unique_ptr<RawFile> file) : file_(std::move(file)) {}
  ~Bzip2Source() override {
    if (in_stream_) BZ2_bzDecompressEnd(&stream_);
  }

  StatusOr<size_t> Read(char* buffer, size_t size) override {
    while (true) {
      NEPTUNE_RETURN_IF_ERROR(file_->Fill());
      if (file_->pending().empty()) {
        if (in_stream_) return DataLoss(file_->path(), ": bzip2 data ends too early");
        return size_t{0};
      }
      if (!in_stream_) NEPTUNE_RETURN_IF_ERROR(StartStream());
      NEPTUNE_ASSIGN_OR_RETURN(const size_t made, Unpack(buffer, size));
      if (made > 0) return made;
    }
  }
  uint64_t file_position() const override { return file_->position(); }

 private:
  Status StartStream() {
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) {
      return ResourceExhausted(file_->path(), ": cannot start bzip2");
    }
    in_stream_ = true;
    return neptune::OkStatus();
  }

  StatusOr<size_t> Unpack(char* buffer, size_t size) {
    const std::string_view in = file_->pending();
    stream_.next_in = const_cast<char*>(in.data());
    stream_.avail_in = static_cast<unsigned>(in.size());
    stream_.next_out = buffer;
    stream_.avail_out = static_cast<unsigned>(std::min<size_t>(size, 1u << 30));
    const unsigned room = stream_.avail_out;
    const int result = BZ2_bzDecompress(&stream_);
    file_->Consume(in.size() - stream_.avail_in);
    if (result == BZ_STREAM_END) {
      BZ2_bzDecompressEnd(&stream_);
      in_stream_ = false;
    } else if (result != BZ_OK) {
      return DataLoss(file_->path(), ": damaged bzip2 data at byte ", file_->position());
    }
    return room - stream_.avail_out;
  }

  std::unique_ptr<RawFile> file_;
  bz_stream stream_{};
  bool in_stream_ = false;
};

}  // namespace

StatusOr<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path) {
  const int fd = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NotFound("opening ", path, ": ", strerror(errno));
  auto file = std::make_unique<RawFile>(path, fd);
  NEPTUNE_RETURN_IF_ERROR(file->Expect(4));
  if (file->pending().starts_with(std::string_view("\x28\xb5\x2f\xfd", 4))) {
    return std::make_unique<ZstdSource>(std::move(file));
  }
  if (file->pending().starts_with(std::string_view("\x1f\x8b", 2))) {
    return std::make_unique<GzipSource>(std::move(file));
  }
  if (file->pending().starts_with("BZh")) return std::make_unique<Bzip2Source>(std::move(file));
  return std::make_unique<PlainSource>(std::move(file));
}

StatusOr<std::string> ReadWholeFile(const std::string& path, size_t size_max) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  std::string content;
  while (true) {
    const size_t used = content.size();
    content.resize(used + kInputSize);
    NEPTUNE_ASSIGN_OR_RETURN(const size_t got, source->Read(content.data() + used, kInputSize));
    content.resize(used + got);
    if (got == 0) return content;
    if (content.size() > size_max) {
      return ResourceExhausted(path, " unpacks to more than ", size_max, " bytes");
    }
  }
}

}  // namespace search::tools
