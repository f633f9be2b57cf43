// One immutable segment, mapped from a file: documents, term dictionary, posting lists.
//
// Format: format.md.
// Maps a file read-only.
// Threads: immutable.
// Errors: NOT_FOUND, DATA_LOSS, UNAVAILABLE.
// Units: an ordinal numbers a segment's documents, or its terms, from 0.
// Limits: kSegmentDocumentsMax documents.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "index/core/document.h"
#include "index/core/segment/format.h"
#include "index/core/segment/section_file.h"
#include "index/core/segment/term_dictionary.h"
#include "neptune/base/status.h"

namespace search::index {

class Segment {
 public:
  // Maps `directory`/segment.
  static neptune::StatusOr<std::unique_ptr<Segment>> Open(const std::string& directory,
                                                          const OpenOptions& options = {});
  // Reads from a container that is already open.
  static neptune::StatusOr<std::unique_ptr<Segment>> FromFile(std::unique_ptr<SectionFile> file);

  uint32_t document_count() const { return static_cast<uint32_t>(doc_ids_.size()); }
  const SegmentTotals& totals() const { return totals_; }
  // True if phrases can be answered. Without positions a cursor's DecodePositions reports damage.
  bool has_positions() const { return (totals_.flags & kWithoutPositionsFlag) == 0; }
  // Identifies the contents; statistics computed for another segment are rejected by it.
  uint64_t fingerprint() const { return file_->fingerprint(); }
  uint64_t size() const { return file_->size(); }
  const std::string& name() const { return file_->name(); }
  const SectionFile& file() const { return *file_; }

  // What a search of damaged postings returns, DATA_LOSS; it is noted with the file.
  neptune::Status DamagedPostings() const {
    file_->NoteDamage();
    return file_->Damaged("postings are damaged");
  }
  // OK if what was read may be believed; see SectionFile.
  neptune::Status CheckSound() const { return file_->CheckSound(); }

  // True if ordinals do not follow doc_ids; ties of scores are still broken by doc_id.
  bool is_reordered() const { return (totals_.flags & kReorderedFlag) != 0; }

  // Document ids by ordinal. They ascend unless the segment is reordered.
  std::span<const uint64_t> doc_ids() const { return doc_ids_; }
  std::span<const float> static_ranks() const { return static_ranks_; }
  // Four bytes per document: the length codes (length_code.h) of the fields, lowest byte Field 0.
  std::span<const uint32_t> length_codes() const { return length_codes_; }
  // The i-th doc_id in ascending order, or any doc_id if the segment is damaged. REQUIRES: i <
  // document_count().
  uint64_t doc_id_in_order(uint32_t i) const {
    if (!is_reordered()) return doc_ids_[i];
    const uint32_t ordinal = doc_id_order_[i];
    return ordinal < doc_ids_.size() ? doc_ids_[ordinal] : 0;
  }
  // The document's ordinal; nullopt if the segment does not hold it.
  std::optional<uint32_t> FindDocument(uint64_t doc_id) const;

  const TermDictionary& terms() const { return terms_; }
  const PostingStorage& postings() const { return postings_; }

  // The dictionary key of a `site:` name, which no word can collide with.
  static std::string SiteKey(std::string_view site);

 private:
  Segment() = default;
  neptune::Status Load();

  std::unique_ptr<SectionFile> file_;
  SegmentTotals totals_;
  std::span<const uint64_t> doc_ids_;
  std::span<const uint32_t> doc_id_order_;  // empty unless the segment is reordered
  std::span<const float> static_ranks_;
  std::span<const uint32_t> length_codes_;
  TermDictionary terms_;
  PostingStorage postings_;
};

}  // namespace search::index
