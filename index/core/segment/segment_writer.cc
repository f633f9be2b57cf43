#include "index/core/segment/segment_writer.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "index/core/segment/length_code.h"
#include "index/core/segment/section_file.h"

namespace search::index {

neptune::StatusOr<std::unique_ptr<SegmentWriter>> SegmentWriter::Create(
    const std::string& directory, Durability durability) {
  std::unique_ptr<SegmentWriter> writer(new SegmentWriter(directory, durability));
  NEPTUNE_RETURN_IF_ERROR(writer->postings_.Create(directory + "/postings.part"));
  NEPTUNE_RETURN_IF_ERROR(writer->positions_.Create(directory + "/positions.part"));
  return writer;
}

SegmentWriter::~SegmentWriter() {
  ::unlink(postings_.path().c_str());
  ::unlink(positions_.path().c_str());
}

void SegmentWriter::AddDocument(uint64_t doc_id, float static_rank,
                                const std::array<uint32_t, kFieldCount>& lengths) {
  uint32_t codes = 0;
  for (size_t field = 0; field < kFieldCount; ++field) {
    codes |= uint32_t{EncodeLength(lengths[field])} << (8 * field);
  }
  AddCodedDocument(doc_id, static_rank, codes);
  AddLengthSums({lengths[0], lengths[1], lengths[2]});
}

void SegmentWriter::AddCodedDocument(uint64_t doc_id, float static_rank, uint32_t length_codes) {
  doc_ids_.push_back(doc_id);
  static_ranks_.push_back(static_rank);
  totals_.static_rank_max = std::max(totals_.static_rank_max, static_rank);
  length_codes_.push_back(length_codes);
}

void SegmentWriter::AddLengthSums(const std::array<uint64_t, kFieldCount>& sums) {
  for (size_t field = 0; field < kFieldCount; ++field) {
    totals_.length_sums[field] += sums[field];
    totals_.token_count += sums[field];
  }
}

void SegmentWriter::BeginTerm(std::string_view key) {
  key_.assign(key);
  entry_ = {};
  entry_.postings_offset = postings_.size();
  entry_.positions_offset = positions_.size();
  entry_.first_block = block_lasts_.size();
  first_possible_ = 0;
  term_lasts_.clear();
  term_offsets_.clear();
  block_.count = 0;
  block_.position_gaps.clear();
}

void SegmentWriter::AddPosting(uint32_t ordinal,
                               const std::array<uint32_t, kFieldCount>& frequencies,
                               std::span<const uint32_t> position_gaps) {
  block_.ordinals[block_.count] = ordinal;
  for (size_t field = 0; field < kFieldCount; ++field) {
    block_.frequencies[field][block_.count] = frequencies[field];
  }
  block_.position_gaps.insert(block_.position_gaps.end(), position_gaps.begin(),
                              position_gaps.end());
  ++entry_.document_frequency;
  if (++block_.count == kPostingBlockSize) FlushBlock();
}

void SegmentWriter::FlushBlock() {
  const uint64_t postings = postings_.size() - entry_.postings_offset;
  const uint64_t positions = positions_.size() - entry_.positions_offset;
  if (failure_.ok() && (postings > UINT32_MAX || positions > UINT32_MAX)) {
    failure_ = neptune::ResourceExhausted("segment: more than 4 GiB of postings of one term");
  }
  term_offsets_.push_back({static_cast<uint32_t>(postings), static_cast<uint32_t>(positions)});
  scratch_.clear();
  EncodePostings(block_, first_possible_, &scratch_);
  postings_.Append(scratch_);
  scratch_.clear();
  EncodePositions(block_, &scratch_);
  positions_.Append(scratch_);
  term_lasts_.push_back(block_.ordinals[block_.count - 1]);
  first_possible_ = term_lasts_.back() + 1;
  block_.count = 0;
  block_.position_gaps.clear();
}

void SegmentWriter::EndTerm() {
  if (block_.count > 0) FlushBlock();
  entry_.postings_size = postings_.size() - entry_.postings_offset;
  entry_.positions_size = positions_.size() - entry_.positions_offset;
  if (term_lasts_.size() > 1) {
    block_lasts_.insert(block_lasts_.end(), term_lasts_.begin(), term_lasts_.end());
    block_offsets_.insert(block_offsets_.end(), term_offsets_.begin(), term_offsets_.end());
  }
  terms_.Add(key_, entry_);
  totals_.posting_count += entry_.document_frequency;
}

neptune::Status SegmentWriter::Close() {
  NEPTUNE_RETURN_IF_ERROR(failure_);
  NEPTUNE_RETURN_IF_ERROR(postings_.Close(/*durable=*/false));
  return positions_.Close(/*durable=*/false);
}

// Ordinals in ascending order of doc_id.
std::vector<uint32_t> SegmentWriter::DocIdOrder() const {
  std::vector<uint32_t> order(doc_ids_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return doc_ids_[a] < doc_ids_[b]; });
  return order;
}

neptune::StatusOr<uint64_t> SegmentWriter::Finish() {
  NEPTUNE_RETURN_IF_ERROR(Close());
  const bool is_reordered = !std::is_sorted(doc_ids_.begin(), doc_ids_.end());
  if (is_reordered) totals_.flags |= kReorderedFlag;
  totals_.document_count = doc_ids_.size();
  totals_.term_count = terms_.term_count();
  totals_.block_count = block_lasts_.size();
  const std::string path = neptune::StrCat(directory_, "/", kSegmentFileName);
  NEPTUNE_ASSIGN_OR_RETURN(auto file, SectionFileWriter::Create(path, kSegmentKind));
  const auto array = [&file](uint32_t id, const auto& values) {
    file->BeginSection(id);
    file->AppendArray(std::span(values));
  };
  file->BeginSection(kTotalsSection);
  file->AppendArray(std::span<const SegmentTotals>(&totals_, 1));
  array(kDocIdsSection, std::as_const(doc_ids_));
  array(kLengthCodesSection, std::as_const(length_codes_));
  array(kStaticRanksSection, std::as_const(static_ranks_));
  array(kTermHeadsSection, terms_.heads());
  array(kTermBlocksSection, terms_.blocks());
  file->BeginSection(kTermBytesSection);
  file->Append(terms_.bytes());
  array(kBlockLastsSection, std::as_const(block_lasts_));
  array(kBlockOffsetsSection, std::as_const(block_offsets_));
  file->BeginSection(kPostingsSection);
  file->AppendFile(postings_.path());
  file->BeginSection(kPositionsSection);
  file->AppendFile(positions_.path());
  if (is_reordered) {
    const std::vector<uint32_t> order = DocIdOrder();
    array(kDocIdOrderSection, order);
  }
  return file->Finish(durability_);
}

}  // namespace search::index
