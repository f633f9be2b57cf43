// Turns dumps - large files of many documents - into one file of JSON Lines, and goes on where it
// was killed.
//
// Threads: one.
// Errors: those of input and output; INVALID_ARGUMENT for a bad page where the options say so. What
//   was done before an error is kept for the next run.
// Limits: constant memory but for 16 bytes a page written. A dump is read again from its beginning
//   to go on, pages that are done are not converted again.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/corpus/document_writer.h"
#include "tools/corpus/dump_reader.h"
#include "tools/corpus/parted_output.h"

namespace search::tools {

struct DumpJob {
  std::vector<std::string> files;  // in order; plain or packed as byte_source.h knows
  std::string format;              // "wikipedia" or "trec"
  DumpOptions dump;
  std::string out;
  uint64_t part_pages = kPartPages;
};

// The finished file is under its name; the counts are of all runs that made it.
neptune::StatusOr<ConvertCounts> ConvertDumps(const DumpJob& job, const ConvertOptions& options);

}  // namespace search::tools
