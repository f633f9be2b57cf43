// Builds one segment from postings made by another program: terms in ascending order with the
// frequency in each document, and documents with their lengths. All words become words of the body,
// and the segment is marked as one without positions.
//
// Writes files; no clock.
// Threads: thread-compatible.
// Errors: INVALID_ARGUMENT for input that is out of order or invalid; UNAVAILABLE for the file
//   system; RESOURCE_EXHAUSTED beyond a limit. After an error the segment must not be finished.
// Limits: kSegmentDocumentsMax documents; keys of 1 to kTermKeySizeMax bytes. Memory as for
//   SegmentWriter: 16 bytes per document, 12 bytes per posting block, and the dictionary.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "index/core/builder/segment_summary.h"
#include "neptune/base/status.h"

namespace search::index {

class SegmentWriter;

class PostingsImporter {
 public:
  // Creates the folder if it is absent; replaces a segment in it.
  static neptune::StatusOr<std::unique_ptr<PostingsImporter>> Create(const std::string& directory);
  ~PostingsImporter();
  PostingsImporter(const PostingsImporter&) = delete;
  PostingsImporter& operator=(const PostingsImporter&) = delete;

  // True if `key` is valid as a word of the dictionary.
  static bool IsPossibleKey(std::string_view key);

  // Adds the next posting; a key different from the last one begins a term.
  // REQUIRES: keys are valid and ascend bytewise, ordinals ascend within a term.
  neptune::Status AddPosting(std::string_view key, uint32_t ordinal, uint32_t frequency);

  // Adds the next document; documents are numbered from 0 and may be added before, between or after
  // the postings. REQUIRES: doc_id greater than the last.
  neptune::Status AddDocument(uint64_t doc_id, uint32_t length);

  // Writes the segment. INVALID_ARGUMENT if a posting refers to a document that was not added.
  neptune::StatusOr<SegmentSummary> Finish();

 private:
  PostingsImporter(std::string directory, std::unique_ptr<SegmentWriter> writer);
  neptune::Status BeginTerm(std::string_view key);

  const std::string directory_;
  const std::unique_ptr<SegmentWriter> writer_;
  std::string key_;
  bool in_term_ = false;
  uint32_t next_ordinal_ = 0;  // next ordinal of the current term
  uint32_t ordinals_end_ = 0;  // largest ordinal of all terms + 1
  uint64_t last_doc_id_ = 0;
};

}  // namespace search::index
