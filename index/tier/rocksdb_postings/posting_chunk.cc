#include "index/tier/rocksdb_postings/posting_chunk.h"

#include "index/core/segment/varint.h"

namespace search::index::rocksdb_postings {

void PostingChunkWriter::Add(uint32_t ordinal, const FieldPositions& positions) {
  if (posting_count_ == 0) first_ordinal_ = ordinal;
  PutVarint(ordinal - last_ordinal_, &bytes_);
  last_ordinal_ = ordinal;
  ++posting_count_;
  std::string encoded;
  for (const std::vector<uint32_t>& field : positions) {
    PutVarint(field.size(), &bytes_);
    uint32_t last = 0;
    for (const uint32_t position : field) {
      PutVarint(position - last, &encoded);
      last = position;
    }
  }
  PutVarint(encoded.size(), &bytes_);
  bytes_ += encoded;
}

bool PostingChunkReader::Read(uint64_t value_max, uint64_t* value) {
  if (GetVarint(&at_, end_, value) && *value <= value_max) return true;
  damaged_ = true;
  at_ = end_;
  return false;
}

bool PostingChunkReader::Next(Posting* posting) {
  if (at_ == end_) return false;
  uint64_t gap = 0;
  if (!Read(UINT32_MAX, &gap)) return false;
  ordinal_ += gap;
  damaged_ = ordinal_ > UINT32_MAX || (gap == 0 && !is_first_);
  if (damaged_) return false;
  is_first_ = false;
  posting->ordinal = static_cast<uint32_t>(ordinal_);
  uint64_t value = 0;
  for (uint32_t& frequency : posting->frequencies) {
    if (!Read(kFieldTokensMax, &value)) return false;
    frequency = static_cast<uint32_t>(value);
  }
  if (!Read(UINT32_MAX, &value)) return false;
  if (value > static_cast<uint64_t>(end_ - at_)) {
    damaged_ = true;
    return false;
  }
  posting->positions = {at_, value};
  at_ += value;
  return true;
}

bool DecodePositions(const Posting& posting, Field field, std::vector<uint32_t>* positions) {
  const char* at = posting.positions.data();
  const char* const end = at + posting.positions.size();
  uint64_t gap = 0;
  for (size_t before = 0; before < static_cast<size_t>(field); ++before) {
    for (uint32_t i = 0; i < posting.frequencies[before]; ++i) {
      if (!GetVarint(&at, end, &gap)) return false;
    }
  }
  positions->clear();
  uint64_t position = 0;
  for (uint32_t i = 0; i < posting.frequencies[static_cast<size_t>(field)]; ++i) {
    if (!GetVarint(&at, end, &gap) || gap > kFieldTokensMax) return false;
    position += gap;
    if (position > kFieldTokensMax) return false;
    positions->push_back(static_cast<uint32_t>(position));
  }
  return true;
}

}  // namespace search::index::rocksdb_postings
