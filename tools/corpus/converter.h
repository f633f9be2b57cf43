// Turns page files or JSON Lines into one file of JSON Lines.
//
// Source: none. Layer: tools.
// Threads: the functions use `thread_count` threads inside the call.
// Errors: those of the output, and of the input where the options say so; a page that cannot be
// read
//   is counted and reported, and the rest goes on.
// Limits: a bounded number of pages in memory; CorpusLimits.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/corpus/json_lines.h"
#include "tools/corpus/link_resolver.h"
#include "tools/corpus/page_tree.h"
#include "tools/streams/file_sink.h"
#include "tools/terminal/progress.h"

namespace search::tools {

struct ConvertOptions {
  int thread_count = 2;
  // Pages with less text, title not counted, are passed over as empty.
  // Default: 24 bytes, less than a sentence.
  size_t text_size_min = 24;
  // Ends the conversion at the first bad line or unreadable page. Default: count, report, go on.
  bool fail_on_bad_input = false;
  NanosecondClock clock;
  // Where progress is shown; null: nowhere.
  FILE* progress_out = nullptr;
  // Gets a message about each bad line or page, the first kReportsMax of them.
  std::function<void(const std::string&)> report;
};

inline constexpr uint64_t kReportsMax = 20;

struct ConvertCounts {
  uint64_t pages = 0;  // seen
  uint64_t written = 0;
  uint64_t redirects = 0;  // passed over, as the following
  uint64_t empty = 0;
  uint64_t duplicates = 0;  // the same title and text as an earlier page
  uint64_t bad = 0;         // unreadable pages, bad lines
  uint64_t cut = 0;         // written, but cut at a limit
  uint64_t links = 0;       // to pages of the corpus
  uint64_t outside_links = 0;
  uint64_t text_size = 0;
};

// Pages of all trees, in order. `public_places` are passed to the resolver: url prefix, path
// prefix.
neptune::StatusOr<ConvertCounts> ConvertTrees(
    const std::vector<PageTree>& trees,
    const std::vector<std::pair<std::string, std::string>>& public_places,
    const ConvertOptions& options, FileSink* sink);

// Documents of JSON Lines files, in order.
neptune::StatusOr<ConvertCounts> ConvertJsonLines(const std::vector<std::string>& files,
                                                  const JsonLinesOptions& lines,
                                                  const ConvertOptions& options, FileSink* sink);

// One line for people.
std::string Summary(const ConvertCounts& counts);

}  // namespace search::tools
