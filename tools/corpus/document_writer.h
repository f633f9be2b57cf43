// Counts converted pages and writes those with enough text as JSON Lines.
//
// Threads: thread-compatible.
// Errors: those of the sink; INVALID_ARGUMENT a bad page where the options say so.
// Limits: memory is 16 bytes per page written.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "neptune/base/status.h"
#include "tools/corpus/corpus_document.h"
#include "tools/streams/file_sink.h"
#include "tools/terminal/progress.h"

namespace search::tools {

struct ConvertOptions {
  int thread_count = 2;
  // Pages with less text, title not counted, are skipped as empty.
  // Default: 24 bytes, less than a sentence.
  size_t text_size_min = 24;
  // Ends the conversion at the first bad line or unreadable page. Default: count, report, continue.
  bool fail_on_bad_input = false;
  NanosecondClock clock;
  // Receives progress; null: none is shown.
  FILE* progress_out = nullptr;
  // Called with a message for each of the first kReportsMax bad lines or pages.
  std::function<void(const std::string&)> report;
};

inline constexpr uint64_t kReportsMax = 20;

struct ConvertCounts {
  uint64_t pages = 0;  // seen
  uint64_t written = 0;
  uint64_t redirects = 0;  // skipped, as the following
  uint64_t others = 0;     // of namespaces that were not requested
  uint64_t empty = 0;
  uint64_t duplicates = 0;  // the same title and text as an earlier page
  uint64_t bad = 0;         // unreadable pages, bad lines
  uint64_t cut = 0;         // written, but truncated at a limit
  uint64_t links = 0;       // to pages of the corpus
  uint64_t outside_links = 0;
  uint64_t text_size = 0;

  friend bool operator==(const ConvertCounts&, const ConvertCounts&) = default;
};

// Returns a one-line summary.
std::string Summary(const ConvertCounts& counts);

struct ConvertedPage {
  neptune::Status status;
  CorpusDocument document;
  bool is_redirect = false;
  bool is_other = false;  // in an unrequested namespace
  bool is_cut = false;
  uint64_t outside_links = 0;
};

// Identifies a page by its contents.
using PageHash = std::pair<uint64_t, uint64_t>;

class DocumentWriter {
 public:
  // Both outlive it.
  DocumentWriter(const ConvertOptions& options, FileSink* sink) : options_(options), sink_(sink) {}

  neptune::Status Bad(const std::string& reason);
  neptune::Status Take(ConvertedPage page);

  const ConvertCounts& counts() const { return counts_; }

  // For output in parts: redirects subsequent output; null while nothing may be written.
  void SetSink(FileSink* sink) { sink_ = sink; }
  // Returns the hashes of the pages written since the last call.
  std::vector<PageHash> DrainNewHashes() { return std::exchange(new_hashes_, {}); }
  // Continues after the last part of an earlier run.
  void Restore(const ConvertCounts& counts, const std::vector<PageHash>& hashes);

 private:
  bool IsNew(const CorpusDocument& document);
  neptune::Status Write(const ConvertedPage& page);

  const ConvertOptions& options_;
  FileSink* sink_;
  ConvertCounts counts_;
  absl::flat_hash_set<PageHash> seen_;
  std::vector<PageHash> new_hashes_;
  std::string line_;
};

}  // namespace search::tools
