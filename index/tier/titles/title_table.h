// What a page of results shows of a document without its text: address, title and site, in a file
// of the partition that also has its postings. Pages without summaries then need no document
// server, and those whose document server fails still name their results.
//
// Format: README.md.
// Reads and writes the file `titles` in the partition's folder.
// Threads: TitleTable is immutable, TitleTableWriter thread-compatible.
// Errors: Open: NOT_FOUND the index was built without it; DATA_LOSS; the writer: INVALID_ARGUMENT
//   documents that do not ascend, UNAVAILABLE the file system.
// Limits: kTitleRecordSizeMax bytes for each document; one with more, or whose texts are not UTF-8,
//   is left out. Writing needs 16 bytes of memory for each document.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/segment/section_check.h"
#include "index/core/segment/section_file.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr std::string_view kTitleTableFileName = "titles";
inline constexpr FileKind kTitleTableKind = {.magic = 0x5454504e, .version = 1};  // "NPTT"
inline constexpr size_t kTitleRecordSizeMax = 4096;

struct TitledDocument {
  std::string_view url;
  std::string_view title;
  std::string_view site;
  std::string_view public_url;

  bool operator==(const TitledDocument&) const = default;
};

class TitleTableWriter {
 public:
  static neptune::StatusOr<std::unique_ptr<TitleTableWriter>> Create(const std::string& directory);

  // Documents are added in ascending order.
  neptune::Status Add(uint64_t doc_id, const TitledDocument& document);
  neptune::Status Finish();

 private:
  explicit TitleTableWriter(std::unique_ptr<SectionFileWriter> file) : file_(std::move(file)) {}

  const std::unique_ptr<SectionFileWriter> file_;
  std::vector<uint64_t> doc_ids_;
  std::vector<uint64_t> ends_;
  std::string record_;
};

class TitleTable {
 public:
  static neptune::StatusOr<std::unique_ptr<TitleTable>> Open(const std::string& directory);
  static neptune::StatusOr<std::unique_ptr<TitleTable>> FromFile(std::unique_ptr<SectionFile> file);

  // nullopt: it is not in the table. The texts refer to the table. O(log n).
  std::optional<TitledDocument> Find(uint64_t doc_id) const;
  size_t document_count() const { return doc_ids_.size(); }
  // Reads the file again; must not outlive the table.
  PartCheck StartCheck() const { return CheckOf({file_.get()}); }
  // OK if what was found may be believed; see SectionFile.
  neptune::Status CheckSound() const { return file_->CheckSound(); }

 private:
  explicit TitleTable(std::unique_ptr<SectionFile> file) : file_(std::move(file)) {}

  const std::unique_ptr<SectionFile> file_;
  std::span<const uint64_t> doc_ids_;  // ascending
  std::span<const uint64_t> ends_;     // of their records
  std::string_view records_;
};

}  // namespace search::index
