#include "index/core/segment/section_file.h"

#include <xxhash.h>

#include <cstring>
#include <utility>

namespace search::index {
namespace {

struct Header {
  uint32_t magic = 0;
  uint32_t version = 0;
  uint64_t file_size = 0;
  uint32_t section_count = 0;
  uint32_t reserved = 0;
  // Checksum of the header with this field 0, followed by the table of sections.
  uint64_t checksum = 0;
};
static_assert(sizeof(Header) == 32);

uint64_t HeaderChecksum(Header header, std::string_view table) {
  header.checksum = 0;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(table);
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace

neptune::StatusOr<std::unique_ptr<SectionFile>> SectionFile::Open(const std::string& path,
                                                                  FileKind kind,
                                                                  const OpenOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(neptune::MappedFile mapping, neptune::MappedFile::Open(path));
  std::unique_ptr<SectionFile> file(new SectionFile);
  file->name_ = path;
  file->mapping_ = std::move(mapping);
  file->bytes_ = file->mapping_->bytes();
  if (file->bytes_.empty()) return file->Damaged("the file is empty");
  NEPTUNE_RETURN_IF_ERROR(file->Check(kind, options));
  return file;
}

neptune::StatusOr<std::unique_ptr<SectionFile>> SectionFile::FromBytes(std::string_view bytes,
                                                                       const std::string& name,
                                                                       FileKind kind,
                                                                       const OpenOptions& options) {
  std::unique_ptr<SectionFile> file(new SectionFile);
  file->name_ = name;
  file->bytes_ = bytes;
  NEPTUNE_RETURN_IF_ERROR(file->Check(kind, options));
  return file;
}

neptune::Status SectionFile::CheckSound() const {
  if (damage_noted()) return Damaged("damage was met in use");
  return mapping_.has_value() ? mapping_->CheckUnchanged() : neptune::OkStatus();
}

neptune::Status SectionFile::CheckHeader(FileKind kind) {
  Header header;
  if (bytes_.size() < sizeof(header)) return Damaged("shorter than a header");
  std::memcpy(&header, bytes_.data(), sizeof(header));
  if (header.magic != kind.magic) return Damaged("not a file of this kind");
  if (header.version != kind.version) {
    return Damaged("format version ", header.version, ", this program reads ", kind.version);
  }
  if (header.file_size != bytes_.size()) {
    return Damaged(bytes_.size(), " bytes instead of ", header.file_size);
  }
  if (header.section_count > kSectionsMax) return Damaged("too many sections");
  const size_t table_size = header.section_count * sizeof(Entry);
  if (bytes_.size() - sizeof(header) < table_size) return Damaged("table of sections is truncated");
  const std::string_view table = bytes_.substr(sizeof(header), table_size);
  entries_.resize(header.section_count);
  std::memcpy(entries_.data(), table.data(), table.size());
  // What is used is what was checked, even if the file is changed meanwhile.
  const std::string_view copied(reinterpret_cast<const char*>(entries_.data()), table.size());
  if (HeaderChecksum(header, copied) != header.checksum) return Damaged("checksum of the header");
  fingerprint_ = header.checksum;
  return neptune::OkStatus();
}

neptune::Status SectionFile::Check(FileKind kind, const OpenOptions& options) {
  NEPTUNE_RETURN_IF_ERROR(CheckHeader(kind));
  for (const Entry& entry : entries_) {
    if (entry.offset % kSectionAlignment != 0 || entry.offset > bytes_.size() ||
        entry.size > bytes_.size() - entry.offset) {
      return Damaged("section ", entry.id, " is outside of the file");
    }
    if (options.verify_checksums &&
        XXH3_64bits(bytes_.data() + entry.offset, entry.size) != entry.checksum) {
      return Damaged("checksum of section ", entry.id);
    }
  }
  return neptune::OkStatus();
}

neptune::StatusOr<std::string_view> SectionFile::Section(uint32_t id) const {
  for (const Entry& entry : entries_) {
    if (entry.id == id) return bytes_.substr(entry.offset, entry.size);
  }
  return Damaged("missing section ", id);
}

}  // namespace search::index
