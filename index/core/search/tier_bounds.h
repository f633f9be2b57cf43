// What the documents of the other tier can add to the scores of a word: the memory-mapped file
// `tier_bounds` of a segment of tier 1, by which a search proves that no document of tier 2 can
// enter its page.
//
// Source: correctness guarantees of tiered indexes [Ntoulas07].
// Departs from source: the guarantee is for the second ranking phase too.
// Format: index/core/segment/format.md.
// Maps a file read-only; WriteTierBounds reads and writes files.
// Threads: immutable.
// Errors: NOT_FOUND if there is no such file, DATA_LOSS if it is damaged or belongs to another
//   segment.
// Limits: those of ComputeGlobalStatistics. Writing decodes every posting of tier 2 once.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "index/core/search/score.h"
#include "index/core/segment/section_file.h"
#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

// Upper bounds for one word over the documents of the other tier.
struct WordBound {
  uint32_t document_count = 0;  // documents that hold it, exact
  Impact impact_max = 0;
  // Occurrences in a title divided by the length of the title, in 2^-16, rounded up.
  uint16_t title_share_max = 0;

  bool operator==(const WordBound&) const = default;
};
static_assert(sizeof(WordBound) == 8);

class TierBounds {
 public:
  static neptune::StatusOr<std::unique_ptr<TierBounds>> Open(const std::string& directory,
                                                             const Segment& segment,
                                                             const OpenOptions& options);
  // Reads from a container that is already open.
  static neptune::StatusOr<std::unique_ptr<TierBounds>> FromFile(std::unique_ptr<SectionFile> file,
                                                                 const Segment& segment);

  // Indexed by the segment's term ordinal.
  std::span<const WordBound> words() const { return words_; }
  // Documents of the other tier.
  uint64_t document_count() const { return document_count_; }
  // Maximum over the documents of the other tier; 0 if it has none.
  float static_rank_max() const { return static_rank_max_; }

  const SectionFile* file() const { return file_.get(); }
  // See SectionFile.
  neptune::Status CheckSound() const { return file_->CheckSound(); }

 private:
  TierBounds() = default;

  std::unique_ptr<SectionFile> file_;
  std::span<const WordBound> words_;
  uint64_t document_count_ = 0;
  float static_rank_max_ = 0;
};

// Writes the bounds of all documents of `tier2` into each directory of `tier1`. The common
// statistics of both must have been computed.
neptune::Status WriteTierBounds(const std::vector<std::string>& tier1,
                                const std::vector<std::string>& tier2);

}  // namespace search::index
