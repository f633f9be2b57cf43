// A file of numbered sections, each with a checksum: the container of segments and statistics.
//
// Format: format.md.
// Maps files read-only, writes files.
// Threads: SectionFile is immutable, SectionFileWriter thread-compatible.
// Errors: NOT_FOUND (no such file), DATA_LOSS (truncated, damaged, of another kind or version),
//   those of neptune/base/file.h.
// Limits: kSectionsMax sections. Never allocates by a size read from the file.

#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/status.h"

namespace search::index {

static_assert(std::endian::native == std::endian::little, "files are little endian, used in place");

inline constexpr size_t kSectionsMax = 32;
inline constexpr size_t kSectionAlignment = 64;

struct OpenOptions {
  // Reads the whole file once and compares the checksums of all sections. If off, only the header
  // is checked; damage may then show later, as DATA_LOSS or as wrong answers, never as a crash.
  // Default: on; a gigabyte in the page cache takes about 0.1 s.
  bool verify_checksums = true;
};

// Whether a finished file must survive a crash of the machine. Files that can be rebuilt from
// durable ones need not wait for the disk.
enum class Durability { kSynced, kUnsynced };

// Kind and version of a file; opening a file of another kind or version fails.
struct FileKind {
  uint32_t magic = 0;
  uint32_t version = 0;
};

class SectionFile {
 public:
  static neptune::StatusOr<std::unique_ptr<SectionFile>> Open(const std::string& path,
                                                              FileKind kind,
                                                              const OpenOptions& options);
  // Reads bytes in memory, which must outlive the file and be aligned to 8. `name` is used in
  // messages.
  static neptune::StatusOr<std::unique_ptr<SectionFile>> FromBytes(std::string_view bytes,
                                                                   const std::string& name,
                                                                   FileKind kind,
                                                                   const OpenOptions& options);
  SectionFile(const SectionFile&) = delete;
  SectionFile& operator=(const SectionFile&) = delete;

  // Errors: DATA_LOSS if the file has no such section.
  neptune::StatusOr<std::string_view> Section(uint32_t id) const;

  // A section as an array. Errors: DATA_LOSS also if its size is not a multiple of T's.
  template <typename T>
  neptune::StatusOr<std::span<const T>> Array(uint32_t id) const {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
    NEPTUNE_ASSIGN_OR_RETURN(const std::string_view bytes, Section(id));
    if (bytes.size() % sizeof(T) != 0) return Damaged("odd size of section ", id);
    return std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  }

  // Notes damage that a reader met in use, for CheckSound. Any thread; sticks.
  void NoteDamage() const { damage_noted_.store(true, std::memory_order_relaxed); }
  bool damage_noted() const { return damage_noted_.load(std::memory_order_relaxed); }

  // OK if nothing is known against what was read since the file was opened. DATA_LOSS: a reader
  // noted damage, a page could not be read, or the file was written or truncated. Readers call it
  // before an answer leaves. Cost: one system call for a mapped file.
  neptune::Status CheckSound() const;

  // For reading everything again (section_check.h): the sections in the order of the file, each
  // with the checksum of its bytes when they were written. REQUIRES: i < section_count().
  struct CheckedBytes {
    std::string_view bytes;
    uint64_t checksum = 0;
  };
  size_t section_count() const { return entries_.size(); }
  CheckedBytes CheckedSection(size_t i) const {
    return {bytes_.substr(entries_[i].offset, entries_[i].size), entries_[i].checksum};
  }

  // Checksum of the header and the section checksums: identifies the contents of the whole file.
  uint64_t fingerprint() const { return fingerprint_; }
  size_t size() const { return bytes_.size(); }
  const std::string& name() const { return name_; }

  // DATA_LOSS whose message begins with the file's name.
  template <typename... Args>
  neptune::Status Damaged(const Args&... args) const {
    return neptune::DataLoss(name_, ": ", args...);
  }

 private:
  struct Entry {
    uint32_t id = 0;
    uint32_t reserved = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
    uint64_t checksum = 0;
  };
  friend class SectionFileWriter;

  SectionFile() = default;
  neptune::Status Check(FileKind kind, const OpenOptions& options);
  neptune::Status CheckHeader(FileKind kind);

  std::string name_;
  std::optional<neptune::MappedFile> mapping_;  // unset: bytes in memory
  std::string_view bytes_;
  std::vector<Entry> entries_;  // as they were when the file was opened
  uint64_t fingerprint_ = 0;
  mutable std::atomic<bool> damage_noted_{false};
};

// Writes the sections in sequence to `path` + ".new"; Finish renames the file to `path`.
class SectionFileWriter {
 public:
  static neptune::StatusOr<std::unique_ptr<SectionFileWriter>> Create(const std::string& path,
                                                                      FileKind kind);
  ~SectionFileWriter();  // removes an unfinished file
  SectionFileWriter(const SectionFileWriter&) = delete;
  SectionFileWriter& operator=(const SectionFileWriter&) = delete;

  // Begins a section; the next call of BeginSection or Finish ends it.
  void BeginSection(uint32_t id);
  void Append(std::string_view bytes);
  template <typename T>
  void AppendArray(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    Append({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  void AppendFile(const std::string& path);

  // Returns the file's size, or the first error of any call.
  neptune::StatusOr<uint64_t> Finish(Durability durability = Durability::kSynced);

 private:
  class Rep;
  explicit SectionFileWriter(std::unique_ptr<Rep> rep);
  std::unique_ptr<Rep> rep_;
};

}  // namespace search::index
