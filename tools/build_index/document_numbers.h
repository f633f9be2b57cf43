// The numbers of all documents of a build by url: what links between documents lead to.
//
// Threads: immutable after Load.
// Errors: those of reading; kDataLoss the file of the first stage is damaged.
// Limits: about 40 bytes of memory per document.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "neptune/base/status.h"
#include "tools/build_index/build_journal.h"
#include "tools/build_index/spool.h"

namespace search::tools {

class DocumentNumbers {
 public:
  static neptune::StatusOr<DocumentNumbers> Load(const BuildJournal& journal);

  std::optional<uint64_t> Find(std::string_view url) const;

  // The structure with its links as the document servers keep them: to documents by number, to the
  // Web by address; other links are left out. Empty if the structure does not fit the text.
  std::string StoredStructure(std::string_view structure, std::string_view text) const;

 private:
  absl::flat_hash_map<UrlHash, uint32_t> numbers_;
};

}  // namespace search::tools
