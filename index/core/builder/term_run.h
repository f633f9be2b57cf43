// A sorted run: terms in ascending order with their occurrences, in memory or spilled to a file.
// Merging the runs of a build in their order yields the whole index.
//
// Reads and writes files.
// Threads: thread-compatible.
// Errors: UNAVAILABLE (file system), DATA_LOSS (a run file was damaged).
//
//   run = { varint(key size), key, varint(occurrences size), occurrences }

#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/builder/term_table.h"
#include "neptune/base/status.h"

namespace search::index {

// Maximum number of runs of one build.
inline constexpr size_t kRunsMax = 1024;

class TermRun {
 public:
  virtual ~TermRun() = default;

  // Moves to the next term, initially to the first; false at the end.
  virtual neptune::StatusOr<bool> Next() = 0;
  virtual std::string_view key() const = 0;
  // Replaces *out by the current term's occurrences. Call it at most once per term.
  virtual neptune::Status ReadOccurrences(std::string* out) = 0;
};

// The table must not change while the run is read.
std::unique_ptr<TermRun> ReadTable(const TermTable& table);

neptune::Status WriteRun(const TermTable& table, const std::string& path);
neptune::StatusOr<std::unique_ptr<TermRun>> OpenRun(const std::string& path);

}  // namespace search::index
