// Builds one segment from JSON Lines and runs benchmark commands over it: our engine with the
// command line that is used to measure its peers.
//
// Reads and writes files.
// Threads: one.
// Errors: INVALID_ARGUMENT for lines that are not documents or commands, with their number; those
//   of index/core.
// Limits: kDocumentLineSizeMax bytes a line.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/search/searcher.h"
#include "neptune/base/status.h"
#include "tools/streams/byte_source.h"

namespace search::tools {

inline constexpr size_t kDocumentLineSizeMax = size_t{64} << 20;

struct BenchBuildSummary {
  uint64_t document_count = 0;
  uint64_t size = 0;  // of all files
};

// Title, a line break and text of each object are one field; its `id` is kept beside the segment.
// BM25 with k1 0.9 and b 0.4, no static rank. `reorder`: similar documents together.
neptune::StatusOr<BenchBuildSummary> BuildBenchIndex(const std::string& directory,
                                                     ByteSource* documents, bool reorder = false);

// One line: COUNT, TOP_k or TOP_k_COUNT, a tab, a query.
struct BenchCommand {
  std::string name;
  std::string query;
  size_t k = 0;
  bool counts = false;
};
neptune::StatusOr<BenchCommand> ParseBenchCommand(std::string_view line);

class BenchIndex {
 public:
  static neptune::StatusOr<std::unique_ptr<BenchIndex>> Open(const std::string& directory);

  // Parses the query and searches.
  neptune::StatusOr<index::SearchResult> Run(const BenchCommand& command) const;
  // `count<TAB>id:score ...`, with `-` where no count was requested.
  std::string Answer(const BenchCommand& command, const index::SearchResult& result) const;

 private:
  BenchIndex() = default;

  std::unique_ptr<index::Segment> segment_;
  std::unique_ptr<index::CollectionStatistics> statistics_;
  std::unique_ptr<index::Searcher> searcher_;
  std::string id_bytes_;
  std::vector<std::string_view> ids_;
};

struct BenchTimes {
  std::string engine;
  size_t pass_count = 1;
  size_t warmup_count = 1;
  std::function<int64_t()> clock;  // nanoseconds
};

// Runs the whole list repeatedly and returns the lines of a TSV file (timing_table.h).
neptune::StatusOr<std::string> TimeCommands(const BenchIndex& index,
                                            const std::vector<BenchCommand>& commands,
                                            const BenchTimes& times);

}  // namespace search::tools
