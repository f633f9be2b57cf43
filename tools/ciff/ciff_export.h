// Writes a whole index as one file in the Common Index File Format.
//
// Source: github.com/osirrc/ciff. README.md explains the treatment of fields, sites and positions.
// Reads segments and document stores, writes one file.
// Threads: thread-compatible.
// Errors: NOT_FOUND no index there; FAILED_PRECONDITION its tiers are of another variant than
//   segment; DATA_LOSS damage in it; RESOURCE_EXHAUSTED more than 2^31 - 1 documents or words.
// Limits: memory is 16 bytes per document, and the encoded postings of one word.

#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"
#include "tools/streams/file_sink.h"
#include "tools/terminal/progress.h"

namespace search::tools {

struct CiffCounts {
  uint64_t documents = 0;
  uint64_t terms = 0;
  uint64_t postings = 0;
  uint64_t tokens = 0;
};

struct CiffExportOptions {
  std::string folder;  // of the index, with its manifest
  std::string output;  // packed if it ends in .gz or .zst
  std::string description;
  FILE* progress_out = nullptr;
  NanosecondClock clock;
};

neptune::StatusOr<CiffCounts> ExportCiff(const CiffExportOptions& options);

// The names that documents have outside of the index, as many as ids.
using DocumentNames =
    std::function<neptune::StatusOr<std::vector<std::string>>(std::span<const uint64_t> doc_ids)>;

// The same from segments; each doc_id is in exactly one of them. `progress` may be null.
neptune::StatusOr<CiffCounts> ExportSegments(
    const std::vector<std::unique_ptr<index::Segment>>& segments, const DocumentNames& names,
    const std::string& description, FileSink* sink, Progress* progress);

}  // namespace search::tools
