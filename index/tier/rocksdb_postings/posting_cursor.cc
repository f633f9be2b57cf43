#include "index/tier/rocksdb_postings/posting_cursor.h"

namespace search::index::rocksdb_postings {

void TermPostingCursor::Next() {
  const uint32_t last = posting_.ordinal;
  const bool is_first = next_chunk_ == 0;
  while (!damaged_ && !reader_.Next(&posting_)) {
    damaged_ = reader_.damaged();
    if (damaged_ || next_chunk_ == postings_.chunks.size()) {
      posting_ = {.ordinal = kNoDocument, .frequencies = {}, .positions = {}};
      return;
    }
    reader_ = PostingChunkReader(postings_.chunks[next_chunk_++]);
  }
  if (!is_first && posting_.ordinal <= last) {  // chunks out of order
    damaged_ = true;
    posting_ = {.ordinal = kNoDocument, .frequencies = {}, .positions = {}};
  }
}

void TermPostingCursor::Positions(Field field, std::vector<uint32_t>* positions) {
  if (DecodePositions(posting_, field, positions)) return;
  positions->clear();
  damaged_ = true;
}

}  // namespace search::index::rocksdb_postings
