// Makes an index that can be served from a file in the Common Index File Format: partitions of
// index tiers, document stores with the documents' names, statistics, manifest.
//
// Source: github.com/osirrc/ciff. What an imported index lacks: README.md.
// Reads one file, writes an index folder.
// Threads: thread-compatible.
// Errors: those of CiffReader; INVALID_ARGUMENT for words that are not in ascending order of bytes
//   and for impossible options; FAILED_PRECONDITION if the folder holds something else;
//   UNAVAILABLE the file system. A failed import leaves no manifest and thus no index.
// Limits: kImportPartitionsMax. Memory is 16 bytes per document, 12 bytes per posting block and the
//   dictionary, in proportion to what has been read and independent of the sizes in the header.

#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "neptune/base/status.h"
#include "tools/build_index/index_manifest.h"
#include "tools/terminal/progress.h"

namespace search::tools {

// Every partition of both tiers has two files open.
inline constexpr uint32_t kImportPartitionsMax = 64;

struct CiffImportOptions {
  std::string input;   // plain, gzip or zstd
  std::string folder;  // of the index; made if absent
  uint32_t partition_count = 4;
  uint32_t document_partition_count = 2;
  // The first documents, by number, make up tier 1. The format knows no static rank; a file whose
  // documents are ordered by quality gets a good tier 1. Default: all, tier 2 is empty.
  double tier1_share = 1;
  std::string document_store = "rocksdb";
  FILE* progress_out = nullptr;
  NanosecondClock clock;
  // Called periodically; true ends the import with CANCELLED. May be empty.
  std::function<bool()> interrupted;
};

struct CiffImportReport {
  uint64_t documents = 0;
  // Number of imported words; a list without postings is not imported.
  uint64_t terms = 0;
  uint64_t postings = 0;
  // Words that no query can contain: empty, longer than 128 bytes, or beginning with byte 1.
  uint64_t terms_left_out = 0;
  uint64_t index_version = 0;
};

neptune::StatusOr<CiffImportReport> ImportCiff(const CiffImportOptions& options);

}  // namespace search::tools
