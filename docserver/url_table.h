// Maps urls to the documents of a store: a file of hashes beside the store, written when it is
// sealed.
//
//   urls   "NPUR", version (u32), count (u64), checksum (u64): XXH3-64 of the following bytes
//          count times: XXH3-64 of the url (u64), document number (u64); ascending; little-endian
//
// Different urls may have the same hash, so a lookup returns candidates, whose documents must be
// compared. A document that was put several times is listed with each of its urls.
//
// Reads and writes one file.
// Threads: UrlTable is immutable, UrlTableWriter thread-compatible.
// Errors: Open: NOT_FOUND, DATA_LOSS; Write: those of neptune/base/file.h.
// Limits: writing needs 16 bytes of memory per document; at most kUrlCandidatesMax candidates.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/status.h"

namespace search::docserver {

inline constexpr char kUrlTableName[] = "urls";
inline constexpr size_t kUrlCandidatesMax = 100;

class UrlTableWriter {
 public:
  void Add(std::string_view url, uint64_t doc_id);
  // Writes the table into the folder of the store.
  neptune::Status Write(const std::string& directory);

 private:
  std::vector<std::pair<uint64_t, uint64_t>> entries_;
};

class UrlTable {
 public:
  static neptune::StatusOr<UrlTable> Open(const std::string& directory);
  // Like Open, but returns nullopt if the store was built without a table.
  static neptune::StatusOr<std::optional<UrlTable>> OpenIfThere(const std::string& directory);

  // Documents that may have the url, ascending; at most kUrlCandidatesMax.
  std::vector<uint64_t> Candidates(std::string_view url) const;

  // DATA_LOSS if the file was changed since it was opened.
  neptune::Status CheckSound() const { return file_.CheckUnchanged(); }

 private:
  explicit UrlTable(neptune::MappedFile file) : file_(std::move(file)) {}

  neptune::MappedFile file_;
};

}  // namespace search::docserver
