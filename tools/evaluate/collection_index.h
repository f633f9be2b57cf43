// An index over one collection's documents, for running its queries.
//
// Writes a segment below the folder it is given, reads it back.
// Threads: thread-compatible.
// Errors: those of the streams, the builder and the searcher; INVALID_ARGUMENT for an index of
//   another file. A line that holds no document is left out and counted.
// Limits: kDocumentsMax documents.
//
// The document of line n of the file has doc_id n.
// Static ranks are 0: collections have no links.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "index/core/search/searcher.h"
#include "neptune/base/status.h"
#include "tools/evaluate/run_file.h"
#include "tools/evaluate/setting.h"

namespace search::tools {

inline constexpr size_t kDocumentsMax = size_t{1} << 26;

class CollectionIndex {
 public:
  // Builds the segment unless `folder` holds one already, which must be of the same file.
  static neptune::StatusOr<std::unique_ptr<CollectionIndex>> Open(const std::string& documents_path,
                                                                  const std::string& folder);

  // Ranks by this setting from now on; by the defaults until then.
  neptune::Status Use(const Setting& setting);

  // Best first. Running text: any word of `text` makes a match.
  neptune::StatusOr<std::vector<RunEntry>> Rank(const std::string& text, size_t depth) const;

  // In the text of index/core/search/explanation.h.
  neptune::StatusOr<std::string> Explain(const std::string& text,
                                         const std::string& document) const;

  size_t document_count() const { return segment_->document_count(); }
  // Lines that hold no document, and what is wrong with the first.
  size_t left_out_count() const { return left_out_count_; }
  const std::string& first_left_out() const { return first_left_out_; }

 private:
  CollectionIndex() = default;
  neptune::Status Read(const std::string& documents_path, const std::string& build_folder);

  std::vector<std::string> ids_;  // by doc_id
  size_t left_out_count_ = 0;
  std::string first_left_out_;
  std::unique_ptr<index::Segment> segment_;
  std::unique_ptr<index::CollectionStatistics> statistics_;
  Setting setting_;
  std::unique_ptr<index::Searcher> searcher_;
};

}  // namespace search::tools
