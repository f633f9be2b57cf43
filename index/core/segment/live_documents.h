// The live documents of a segment: one bit per ordinal. Segments are immutable; a document is
// deleted by clearing its bit in a copy, which is written as a new generation into the segment's
// directory.
//
// The design follows Lucene's live documents. Format: format.md.
// Reads and writes small files.
// Threads: a plain value; published as shared_ptr<const LiveDocuments> it is immutable.
// Errors: DATA_LOSS for a damaged file or one written for another segment; NOT_FOUND; UNAVAILABLE.
// Units: ordinals of documents in the segment.
// Limits: kSegmentDocumentsMax documents, that is, 32 MiB.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "index/core/segment/section_file.h"
#include "neptune/base/status.h"

namespace search::index {

class LiveDocuments {
 public:
  // The bitmap's size in words is a multiple of this, and at least one word more than the documents
  // need; bits past the last document are 0.
  static constexpr size_t kStride = 64;

  // All documents are live.
  explicit LiveDocuments(uint32_t document_count);

  // File name of a generation in the segment's directory. Generations count from 1; a segment
  // without such a file has no deleted documents.
  static std::string FileName(uint64_t generation);

  // Reads `path`, which must be written for the segment with this fingerprint and document count.
  static neptune::StatusOr<LiveDocuments> Read(const std::string& path,
                                               uint64_t segment_fingerprint,
                                               uint32_t document_count);
  // Reads from a container that is already open.
  static neptune::StatusOr<LiveDocuments> FromFile(const SectionFile& file,
                                                   uint64_t segment_fingerprint,
                                                   uint32_t document_count);

  // Writes `path` atomically and durably.
  neptune::Status Write(const std::string& path, uint64_t segment_fingerprint) const;

  // Returns true if the document was live before the call. REQUIRES: ordinal < document_count().
  bool Delete(uint32_t ordinal);

  bool IsLive(uint32_t ordinal) const { return (words_[ordinal / 64] >> (ordinal % 64) & 1) != 0; }
  uint32_t document_count() const { return document_count_; }
  uint32_t live_count() const { return live_count_; }
  // Lowest ordinal in the lowest bit: the layout of term bitmaps, so that both can be combined.
  std::span<const uint64_t> words() const { return words_; }

  bool operator==(const LiveDocuments&) const = default;

 private:
  uint32_t document_count_;
  uint32_t live_count_;
  std::vector<uint64_t> words_;
};

}  // namespace search::index
