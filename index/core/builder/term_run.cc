#include "index/core/builder/term_run.h"

#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "index/core/segment/file_appender.h"
#include "index/core/segment/varint.h"

namespace search::index {
namespace {

class TableRun : public TermRun {
 public:
  explicit TableRun(const TermTable& table) : table_(table), slots_(table.SortedSlots()) {}

  neptune::StatusOr<bool> Next() override {
    if (next_ == slots_.size()) return false;
    slot_ = slots_[next_++];
    return true;
  }
  std::string_view key() const override { return table_.key(slot_); }
  neptune::Status ReadOccurrences(std::string* out) override {
    table_.CopyOccurrences(slot_, out);
    return neptune::OkStatus();
  }

 private:
  const TermTable& table_;
  const std::vector<uint32_t> slots_;
  size_t next_ = 0;
  uint32_t slot_ = 0;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class FileRun : public TermRun {
 public:
  FileRun(std::string path, std::FILE* file, uint64_t size)
      : path_(std::move(path)), file_(file), size_(size) {}

  neptune::StatusOr<bool> Next() override {
    if (unread_ > 0 && std::fseek(file_.get(), static_cast<long>(unread_), SEEK_CUR) != 0) {
      return neptune::Unavailable("cannot seek in ", path_, ": ", std::strerror(errno));
    }
    uint64_t key_size = 0;
    if (!ReadVarint(&key_size)) {
      if (std::feof(file_.get())) return false;
      return Damaged();
    }
    if (key_size > UINT8_MAX) return Damaged();
    key_.resize(key_size);
    if (!Read(key_.data(), key_size) || !ReadVarint(&unread_)) return Damaged();
    if (unread_ > size_) return Damaged();
    return true;
  }

  std::string_view key() const override { return key_; }

  neptune::Status ReadOccurrences(std::string* out) override {
    if (unread_ > kArenaSizeMax) return Damaged();
    out->resize(unread_);
    if (!Read(out->data(), unread_)) return Damaged();
    unread_ = 0;
    return neptune::OkStatus();
  }

 private:
  bool Read(char* to, size_t size) { return std::fread(to, 1, size, file_.get()) == size; }

  bool ReadVarint(uint64_t* value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const int byte = std::fgetc(file_.get());
      if (byte == EOF) return false;
      *value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  neptune::Status Damaged() const { return neptune::DataLoss("run ", path_, " is damaged"); }

  const std::string path_;
  const std::unique_ptr<std::FILE, CloseFile> file_;
  const uint64_t size_;  // of the file: bounds what damaged bytes can claim
  std::string key_;
  uint64_t unread_ = 0;
};

}  // namespace

std::unique_ptr<TermRun> ReadTable(const TermTable& table) {
  return std::make_unique<TableRun>(table);
}

neptune::Status WriteRun(const TermTable& table, const std::string& path) {
  FileAppender file;
  NEPTUNE_RETURN_IF_ERROR(file.Create(path));
  const std::unique_ptr<TermRun> run = ReadTable(table);
  std::string bytes;
  std::string occurrences;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool found, run->Next());
    if (!found) break;
    NEPTUNE_RETURN_IF_ERROR(run->ReadOccurrences(&occurrences));
    bytes.clear();
    PutVarint(run->key().size(), &bytes);
    bytes.append(run->key());
    PutVarint(occurrences.size(), &bytes);
    file.Append(bytes);
    file.Append(occurrences);
  }
  return file.Close(/*durable=*/false);
}

neptune::StatusOr<std::unique_ptr<TermRun>> OpenRun(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) {
    return neptune::Unavailable("cannot open ", path, ": ", std::strerror(errno));
  }
  std::setvbuf(file, nullptr, _IOFBF, size_t{64} << 10);
  struct stat info = {};
  const uint64_t size =
      ::fstat(::fileno(file), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
  return std::unique_ptr<TermRun>(std::make_unique<FileRun>(path, file, size));
}

}  // namespace search::index
