// Turns page files or JSON Lines into one file of JSON Lines.
//
// Threads: the functions use `thread_count` threads inside the call.
// Errors: those of the output, and of the input where the options say so; a page that cannot be
//   read is counted and reported, and the others are converted.
// Limits: a bounded number of pages in memory; CorpusLimits.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/corpus/document_writer.h"
#include "tools/corpus/json_lines.h"
#include "tools/corpus/link_resolver.h"
#include "tools/corpus/page_tree.h"
#include "tools/corpus/parted_output.h"
#include "tools/streams/file_sink.h"

namespace search::tools {

// Converts the pages of all trees, in order. `public_places` are passed to the resolver: url
// prefix, path prefix.
neptune::StatusOr<ConvertCounts> ConvertTrees(
    const std::vector<PageTree>& trees,
    const std::vector<std::pair<std::string, std::string>>& public_places,
    const ConvertOptions& options, FileSink* sink);

// A file written in parts (parted_output.h); it gets its name once complete.
struct PartedFile {
  std::string out;
  uint64_t part_pages = kPartPages;
};

// The same into a file in parts; continues after an earlier run over the same, unchanged trees. The
// counts include all runs. Errors: INVALID_ARGUMENT too if no page is worth writing.
neptune::StatusOr<ConvertCounts> ConvertTreesInParts(
    const std::vector<PageTree>& trees,
    const std::vector<std::pair<std::string, std::string>>& public_places,
    const ConvertOptions& options, const PartedFile& file);
neptune::StatusOr<ConvertCounts> ConvertJsonLinesInParts(const std::vector<std::string>& files,
                                                         const JsonLinesOptions& lines,
                                                         const ConvertOptions& options,
                                                         const PartedFile& file);

// Converts the documents of JSON Lines files, in order.
neptune::StatusOr<ConvertCounts> ConvertJsonLines(const std::vector<std::string>& files,
                                                  const JsonLinesOptions& lines,
                                                  const ConvertOptions& options, FileSink* sink);

}  // namespace search::tools
