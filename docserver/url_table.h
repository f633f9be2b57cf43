// Which documents of a store have a url: a file of hashes beside the store, made when it is sealed.
//
//   urls   "NPUR", version (u32), count (u64), checksum (u64): XXH3-64 of what follows
//          count times: XXH3-64 of the url (u64), document number (u64); ascending; little-endian
//
// Different urls may share a hash: what is found are candidates, whose documents have to be compared. A document that was
// put more than once stands here with each of its urls.
//
// Reads and writes one file.
// Threads: UrlTable is immutable, UrlTableWriter thread-compatible.
// Errors: Open: NOT_FOUND, DATA_LOSS; Write: those of neptune/base/file.h.
// Limits: writing takes 16 bytes of memory a document, kUrlCandidatesMax candidates are looked at.

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
  // Into the folder of the store.
  neptune::Status Write(const std::string& directory);

 private:
  std::vector<std::pair<uint64_t, uint64_t>> entries_;
};

class UrlTable {
 public:
  static neptune::StatusOr<UrlTable> Open(const std::string& directory);
  // The same; nullopt for a store that was built without one.
  static neptune::StatusOr<std::optional<UrlTable>> OpenIfThere(const std::string& directory);

  // Documents that may have the url, ascending, kUrlCandidatesMax at most.
  std::vector<uint64_t> Candidates(std::string_view url) const;

 private:
  explicit UrlTable(neptune::MappedFile file) : file_(std::move(file)) {}

  neptune::MappedFile file_;
};

}  // namespace search::docserver
