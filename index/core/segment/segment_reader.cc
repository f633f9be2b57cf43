#include "index/core/segment/segment_reader.h"

#include <algorithm>

namespace search::index {

neptune::StatusOr<std::unique_ptr<Segment>> Segment::Open(const std::string& directory,
                                                          const OpenOptions& options) {
  const std::string path = neptune::StrCat(directory, "/", kSegmentFileName);
  NEPTUNE_ASSIGN_OR_RETURN(auto file, SectionFile::Open(path, kSegmentKind, options));
  return FromFile(std::move(file));
}

neptune::StatusOr<std::unique_ptr<Segment>> Segment::FromFile(std::unique_ptr<SectionFile> file) {
  std::unique_ptr<Segment> segment(new Segment);
  segment->file_ = std::move(file);
  NEPTUNE_RETURN_IF_ERROR(segment->Load());
  return segment;
}

neptune::Status Segment::Load() {
  NEPTUNE_ASSIGN_OR_RETURN(const auto totals, file_->Array<SegmentTotals>(kTotalsSection));
  if (totals.size() != 1) return file_->Damaged("totals");
  totals_ = totals[0];
  if ((totals_.flags & ~(kWithoutPositionsFlag | kReorderedFlag)) != 0) {
    return file_->Damaged("unknown flags ", totals_.flags);
  }
  NEPTUNE_ASSIGN_OR_RETURN(doc_ids_, file_->Array<uint64_t>(kDocIdsSection));
  NEPTUNE_ASSIGN_OR_RETURN(length_codes_, file_->Array<uint32_t>(kLengthCodesSection));
  NEPTUNE_ASSIGN_OR_RETURN(static_ranks_, file_->Array<float>(kStaticRanksSection));
  if (totals_.document_count > kSegmentDocumentsMax || doc_ids_.size() != totals_.document_count ||
      length_codes_.size() != totals_.document_count ||
      static_ranks_.size() != totals_.document_count) {
    return file_->Damaged("arrays of documents do not match ", totals_.document_count,
                          " documents");
  }
  if (is_reordered()) {
    NEPTUNE_ASSIGN_OR_RETURN(doc_id_order_, file_->Array<uint32_t>(kDocIdOrderSection));
    if (doc_id_order_.size() != totals_.document_count) return file_->Damaged("order of doc ids");
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto heads, file_->Array<uint64_t>(kTermHeadsSection));
  NEPTUNE_ASSIGN_OR_RETURN(const auto blocks, file_->Array<TermBlock>(kTermBlocksSection));
  NEPTUNE_ASSIGN_OR_RETURN(const auto bytes, file_->Section(kTermBytesSection));
  NEPTUNE_ASSIGN_OR_RETURN(terms_,
                           TermDictionary::FromSections(totals_.term_count, heads, blocks, bytes));
  NEPTUNE_ASSIGN_OR_RETURN(postings_.postings, file_->Section(kPostingsSection));
  NEPTUNE_ASSIGN_OR_RETURN(postings_.positions, file_->Section(kPositionsSection));
  NEPTUNE_ASSIGN_OR_RETURN(postings_.block_lasts, file_->Array<uint32_t>(kBlockLastsSection));
  NEPTUNE_ASSIGN_OR_RETURN(postings_.block_offsets,
                           file_->Array<BlockOffsets>(kBlockOffsetsSection));
  if (postings_.block_lasts.size() != totals_.block_count ||
      postings_.block_offsets.size() != totals_.block_count) {
    return file_->Damaged("arrays of blocks do not match ", totals_.block_count, " blocks");
  }
  return neptune::OkStatus();
}

std::optional<uint32_t> Segment::FindDocument(uint64_t doc_id) const {
  uint32_t begin = 0;
  uint32_t end = document_count();
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (doc_id_in_order(middle) < doc_id) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == document_count() || doc_id_in_order(begin) != doc_id) return std::nullopt;
  const uint32_t ordinal = is_reordered() ? doc_id_order_[begin] : begin;
  return ordinal < document_count() ? std::optional(ordinal) : std::nullopt;
}

std::string Segment::SiteKey(std::string_view site) {
  std::string key(1, kSiteKeyPrefix);
  key.append(site.substr(0, kTermKeySizeMax - 1));
  return key;
}

}  // namespace search::index
