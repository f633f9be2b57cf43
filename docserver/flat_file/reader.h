// Reads a sealed flat-file document store through two memory mappings.
//
// Threads: thread-safe.
// Errors: Open: NOT_FOUND, FAILED_PRECONDITION (data without an index: never sealed), DATA_LOSS (a
//   checksum, or a data file that is shorter or longer than the index says, as a torn tail is).
//   Fetch and Verify: DATA_LOSS.
// Limits: kFetchCountMax ids; memory for the requested documents and one decompressed block.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "docserver/document_store.h"
#include "docserver/flat_file/dictionary.h"
#include "docserver/flat_file/format.h"
#include "docserver/url_table.h"
#include "neptune/base/file.h"
#include "neptune/base/status.h"

namespace search::docserver::flat_file {

class Reader {
 public:
  static neptune::StatusOr<std::unique_ptr<Reader>> Open(const std::string& directory);

  // Each block is decompressed at most once per call. Texts are those of FetchBeginnings.
  neptune::StatusOr<FetchedDocuments> Fetch(std::span<const uint64_t> ids,
                                            size_t text_size_max) const;
  // See DocumentStore. The index was read when the store was opened, and counts as in memory.
  bool IsInMemory(std::span<const uint64_t> ids, size_t text_size_max) const;
  neptune::Status Verify() const;
  // DATA_LOSS if a file was changed or lost pages since it was opened: what was not found may be
  // there then. A single damaged block is not that.
  neptune::Status CheckSound() const;
  // The table of urls; null if the store was built without one.
  const UrlTable* urls() const { return urls_.has_value() ? &*urls_ : nullptr; }
  uint64_t document_count() const { return index_.entry_count(); }

 private:
  struct Files {
    neptune::MappedFile data;
    neptune::MappedFile index_file;
    IndexView index;
    std::optional<UrlTable> urls;
  };
  Reader(std::string directory, Files files, const DataHeader& header);
  // Decompresses the block at *offset and moves *offset to the next one.
  neptune::StatusOr<Block> LoadBlock(uint64_t* offset, std::string* raw) const;
  // Appends pieces of the text, of which the first is in the block at `offset`.
  neptune::Status AppendPieces(uint64_t offset, size_t text_size_max,
                               StoredDocument* document) const;
  neptune::Status ParseDocument(const IndexEntry& entry, std::string_view raw,
                                StoredDocument* document) const;
  neptune::Status VerifyBlocks() const;

  const std::string directory_;
  const neptune::MappedFile data_;
  const neptune::MappedFile index_file_;
  const IndexView index_;
  const std::optional<UrlTable> urls_;
  const size_t first_block_;
  const Decompressor decompressor_;
};

}  // namespace search::docserver::flat_file
