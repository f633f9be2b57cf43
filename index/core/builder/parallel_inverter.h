// Inverts documents on several threads: documents are copied into batches, a thread turns each
// batch into runs on disk, and the runs in batch order hold the same as those of a single thread.
//
// Writes files; starts at most thread_count threads besides the caller's, which fills the next
// batch meanwhile.
// Threads: thread-compatible; all of its threads end before it does.
// Errors: UNAVAILABLE (file system), RESOURCE_EXHAUSTED (more than kRunsMax runs). Errors are
//   sticky.
// Limits: memory_size_max for batches and their tables, or thread_count + 1 times the largest
//   document if that is more; plus 12 bytes per document.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "index/core/analysis/analyzer.h"
#include "index/core/document.h"
#include "neptune/base/status.h"

namespace search::index {

struct ParallelInverterOptions {
  // Temporary files are named DIRECTORY/run.BATCH.N.part.
  std::string directory;
  WordRule words = WordRule::kLanguage;
  int thread_count = 2;
  size_t memory_size_max = size_t{256} << 20;
};

class ParallelInverter {
 public:
  using Lengths = std::array<uint32_t, kFieldCount>;

  explicit ParallelInverter(ParallelInverterOptions options);
  ~ParallelInverter();  // removes the files
  ParallelInverter(const ParallelInverter&) = delete;
  ParallelInverter& operator=(const ParallelInverter&) = delete;

  // Copies the document, which has the next ordinal. Waits for the oldest batch if all threads
  // work.
  neptune::Status Add(const IndexedDocument& document);
  // Inverts the remaining documents. run_paths() and lengths() are valid only after it.
  neptune::Status Finish();
  const std::vector<std::string>& run_paths() const { return run_paths_; }
  const std::vector<Lengths>& lengths() const { return lengths_; }  // indexed by ordinal

 private:
  class Batch;

  neptune::Status StartBatch();
  neptune::Status JoinOldest();

  const ParallelInverterOptions options_;
  const size_t batch_size_max_;  // size of a batch's texts
  const size_t table_size_max_;
  size_t batch_count_ = 0;
  uint32_t next_ordinal_ = 0;
  std::unique_ptr<Batch> filling_;
  std::deque<std::pair<std::unique_ptr<Batch>, std::thread>> working_;
  std::vector<std::string> run_paths_;
  std::vector<Lengths> lengths_;
  neptune::Status status_;
};

}  // namespace search::index
