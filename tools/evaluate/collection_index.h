// An index over one collection's documents, for running its queries.
//
// Writes a segment into the given folder and reads it back.
// Threads: thread-compatible.
// Errors: those of the streams, the builder and the searcher; INVALID_ARGUMENT if the index was
//   built from another file. A line without a valid document is skipped and counted.
// Limits: kDocumentsMax documents.
//
// The document of line n of the file has doc_id n. Unless evidence of links is given, static ranks
// are 0 and extra texts empty.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "index/core/search/searcher.h"
#include "neptune/base/status.h"
#include "tools/evaluate/run_file.h"
#include "tools/evaluate/setting.h"

namespace search::tools {

inline constexpr size_t kDocumentsMax = size_t{1} << 26;

// What other pages say about a document.
struct LinkEvidence {
  std::string extra_text;
  float static_rank = 0;
};
// Evidence by url; a document without an entry has none.
using LinkEvidenceByUrl = std::unordered_map<std::string, LinkEvidence>;

class CollectionIndex {
 public:
  // Builds the segment unless `folder` already contains one, which must be built from the same
  // file and evidence.
  static neptune::StatusOr<std::unique_ptr<CollectionIndex>> Open(
      const std::string& documents_path, const std::string& folder,
      const LinkEvidenceByUrl& evidence = {});

  // Sets the ranking parameters for subsequent calls; initially the defaults.
  neptune::Status Use(const Setting& setting);

  // Returns documents best first. A document matches if it contains any word of `text`.
  neptune::StatusOr<std::vector<RunEntry>> Rank(const std::string& text, size_t depth) const;

  // Explains a score in the text format of index/core/search/explanation.h.
  neptune::StatusOr<std::string> Explain(const std::string& text,
                                         const std::string& document) const;

  size_t document_count() const { return segment_->document_count(); }
  // Number of lines without a valid document, and the error of the first.
  size_t left_out_count() const { return left_out_count_; }
  const std::string& first_left_out() const { return first_left_out_; }

 private:
  CollectionIndex() = default;
  neptune::Status Read(const std::string& documents_path, const std::string& build_folder,
                       const LinkEvidenceByUrl& evidence);

  std::vector<std::string> ids_;  // by doc_id
  size_t left_out_count_ = 0;
  std::string first_left_out_;
  std::unique_ptr<index::Segment> segment_;
  std::unique_ptr<index::CollectionStatistics> statistics_;
  Setting setting_;
  std::unique_ptr<index::Searcher> searcher_;
};

}  // namespace search::tools
