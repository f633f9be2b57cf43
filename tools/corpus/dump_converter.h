// Converts dumps (large files of many documents) to one file of JSON Lines, and resumes a killed
// run.
//
// Threads: one.
// Errors: those of input and output; INVALID_ARGUMENT for a bad page where the options say so.
//   Parts completed before an error are kept for the next run.
// Limits: constant memory plus 16 bytes per page written. A resumed run reads the dump again from
//   its beginning, but does not convert finished pages again.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/corpus/document_writer.h"
#include "tools/corpus/dump_reader.h"
#include "tools/corpus/parted_output.h"

namespace search::tools {

struct DumpJob {
  std::vector<std::string> files;  // in order; plain or compressed (byte_source.h)
  std::string format;              // "wikipedia" or "trec"
  DumpOptions dump;
  std::string out;
  uint64_t part_pages = kPartPages;
};

// The complete file has its name; the counts cover all runs that wrote it.
neptune::StatusOr<ConvertCounts> ConvertDumps(const DumpJob& job, const ConvertOptions& options);

}  // namespace search::tools
