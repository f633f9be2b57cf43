#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "index/core/segment/file_appender.h"
#include "index/core/segment/section_file.h"

namespace search::index {

// The table has room for kSectionsMax entries; the first section follows it.
class SectionFileWriter::Rep {
 public:
  Rep(std::string path, FileKind kind) : path_(std::move(path)), kind_(kind) {
    XXH3_64bits_reset(hash_);
  }

  ~Rep() {
    XXH3_freeState(hash_);
    if (!finished_) ::unlink(file_.path().c_str());
  }

  neptune::Status Create() {
    NEPTUNE_RETURN_IF_ERROR(file_.Create(path_ + ".new"));
    file_.Append(std::string(kTableEnd, '\0'));
    return file_.status();
  }

  void Begin(uint32_t id) {
    End();
    const size_t padding = (kSectionAlignment - file_.size() % kSectionAlignment);
    if (padding < kSectionAlignment) file_.Append(std::string(padding, '\0'));
    entries_.push_back({.id = id, .offset = file_.size()});
    XXH3_64bits_reset(hash_);
  }

  void Append(std::string_view bytes) {
    XXH3_64bits_update(hash_, bytes.data(), bytes.size());
    file_.Append(bytes);
  }

  void AppendFile(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string buffer(size_t{256} << 10, '\0');
    while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
      Append({buffer.data(), static_cast<size_t>(in.gcount())});
    }
    if (!in.eof() && failure_.ok()) failure_ = neptune::Unavailable("cannot read ", path);
  }

  neptune::StatusOr<uint64_t> Finish(Durability durability);

 private:
  static constexpr size_t kHeaderSize = 32;
  static constexpr size_t kTableEnd = kHeaderSize + kSectionsMax * sizeof(SectionFile::Entry);

  void End() {
    if (entries_.empty()) return;
    entries_.back().size = file_.size() - entries_.back().offset;
    entries_.back().checksum = XXH3_64bits_digest(hash_);
  }

  std::string HeaderBytes() const;

  const std::string path_;
  const FileKind kind_;
  FileAppender file_;
  XXH3_state_t* const hash_ = XXH3_createState();
  std::vector<SectionFile::Entry> entries_;
  neptune::Status failure_;
  bool finished_ = false;
};

std::string SectionFileWriter::Rep::HeaderBytes() const {
  std::string bytes(kHeaderSize, '\0');
  const auto put = [&](size_t at, auto value) { std::memcpy(&bytes[at], &value, sizeof(value)); };
  put(0, kind_.magic);
  put(4, kind_.version);
  put(8, uint64_t{file_.size()});
  put(16, static_cast<uint32_t>(entries_.size()));
  bytes.append(reinterpret_cast<const char*>(entries_.data()),
               entries_.size() * sizeof(SectionFile::Entry));
  put(24, uint64_t{XXH3_64bits(bytes.data(), bytes.size())});
  return bytes;
}

neptune::StatusOr<uint64_t> SectionFileWriter::Rep::Finish(Durability durability) {
  End();
  NEPTUNE_RETURN_IF_ERROR(failure_);
  if (entries_.size() > kSectionsMax) return neptune::Internal(path_, ": too many sections");
  file_.WriteAt(0, HeaderBytes());
  NEPTUNE_RETURN_IF_ERROR(file_.Close(durability == Durability::kSynced));
  if (std::rename(file_.path().c_str(), path_.c_str()) != 0) {
    return neptune::Unavailable("cannot rename ", file_.path(), ": ", std::strerror(errno));
  }
  finished_ = true;
  return file_.size();
}

SectionFileWriter::SectionFileWriter(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
SectionFileWriter::~SectionFileWriter() = default;

neptune::StatusOr<std::unique_ptr<SectionFileWriter>> SectionFileWriter::Create(
    const std::string& path, FileKind kind) {
  auto rep = std::make_unique<Rep>(path, kind);
  NEPTUNE_RETURN_IF_ERROR(rep->Create());
  return std::unique_ptr<SectionFileWriter>(new SectionFileWriter(std::move(rep)));
}

void SectionFileWriter::BeginSection(uint32_t id) { rep_->Begin(id); }
void SectionFileWriter::Append(std::string_view bytes) { rep_->Append(bytes); }
void SectionFileWriter::AppendFile(const std::string& path) { rep_->AppendFile(path); }
neptune::StatusOr<uint64_t> SectionFileWriter::Finish(Durability durability) {
  return rep_->Finish(durability);
}

}  // namespace search::index
