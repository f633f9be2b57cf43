// Ranked lists of many queries, and the TREC run file format:
//   query-id Q0 document-id rank score tag
//
// Source: the format and the ties of trec_eval: the score decides alone, the rank column is not
//   read, equal scores go by descending document id. Reads and writes files.
// Threads: plain values.
// Errors: INVALID_ARGUMENT a bad line, which the message names, or an id with white space.
// Limits: kRunEntriesMax lines of at most kRunLineSizeMax bytes.

#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/streams/byte_source.h"

namespace search::tools {

inline constexpr size_t kRunEntriesMax = 20'000'000;
inline constexpr size_t kRunLineSizeMax = 4096;

struct RunEntry {
  std::string document;
  double score = 0;

  bool operator==(const RunEntry&) const = default;
};

// Ranked documents by query id.
using RankedLists = std::map<std::string, std::vector<RunEntry>>;

// Sorts a list into the order in which it is judged.
void SortForJudging(std::vector<RunEntry>* entries);
std::vector<std::string> DocumentsInOrder(std::vector<RunEntry> entries);

neptune::Status WriteRun(const std::string& path, const RankedLists& run, const std::string& tag);
neptune::StatusOr<RankedLists> ReadRun(const std::string& path);
// Reads from bytes; `name` is used in messages.
neptune::StatusOr<RankedLists> ReadRun(ByteSource* source, const std::string& name);

}  // namespace search::tools
