// Writes a flat-file document store: first a dictionary of the first documents, then blocks as
// documents arrive, the index when it is sealed.
//
// Threads: thread-compatible.
// Errors: INVALID_ARGUMENT a document over kDocumentSizeMax; UNAVAILABLE file system error.
// Limits: memory for one block, for the sample (kSampleSize and a document) and for about 66 bytes
//   per document.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "docserver/document_store.h"
#include "docserver/flat_file/format.h"
#include "docserver/flat_file/output_file.h"
#include "docserver/url_table.h"
#include "neptune/base/status.h"

struct ZSTD_CCtx_s;
struct ZSTD_CDict_s;

namespace search::docserver::flat_file {

class Writer {
 public:
  // Starts the files in an existing directory.
  static neptune::StatusOr<std::unique_ptr<Writer>> Create(const std::string& directory,
                                                           const DocumentStoreOptions& options);
  ~Writer();

  neptune::Status Put(const StoredDocument& document);
  // Writes the last block and then the index, so that an index never exists without its data.
  neptune::Status Seal();
  uint64_t document_count() const { return entries_.size(); }

 private:
  Writer(std::string directory, const DocumentStoreOptions& options,
         std::unique_ptr<OutputFile> data);
  // Ends the sample: writes the header with the dictionary, and then the documents of the sample.
  neptune::Status WriteSample();
  // Appends a serialised document to the open block.
  neptune::Status AppendRecord(uint64_t doc_id, std::string_view record);
  neptune::Status CloseBlock();
  std::string SortedEntries() const;

  const std::string directory_;
  const DocumentStoreOptions options_;
  std::unique_ptr<OutputFile> data_;
  std::unique_ptr<ZSTD_CCtx_s, size_t (*)(ZSTD_CCtx_s*)> compressor_;
  std::unique_ptr<ZSTD_CDict_s, size_t (*)(ZSTD_CDict_s*)> dictionary_;  // null: none
  bool is_sampling_ = true;
  std::string sample_;  // serialised documents that wait for the dictionary
  std::vector<size_t> sample_sizes_;
  std::vector<uint64_t> sample_ids_;
  std::string raw_;  // documents of the open block
  uint32_t raw_record_count_ = 0;
  std::string compressed_;
  absl::flat_hash_map<uint64_t, IndexEntry> entries_;
  UrlTableWriter urls_;
};

}  // namespace search::docserver::flat_file
