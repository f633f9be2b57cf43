#include "index/tier/rocksdb_postings/posting_cursor.h"

#include "index/tier/rocksdb_postings/keys.h"

namespace search::index::rocksdb_postings {

neptune::StatusOr<std::unique_ptr<TermPostingCursor>> TermPostingCursor::Open(
    const PostingDatabase& database, std::string_view term, uint64_t size_max) {
  std::unique_ptr<TermPostingCursor> cursor(new TermPostingCursor);
  if (term.empty() || term.size() > kTermKeySizeMax) {
    cursor->Next();
    return cursor;
  }
  NEPTUNE_RETURN_IF_ERROR(
      database.ForEach(TermKey('t', term), [&](std::string_view, std::string_view chunk) {
        cursor->size_ += chunk.size();
        if (cursor->size_ > size_max) {
          return neptune::ResourceExhausted("search: postings of '", term, "' are too many");
        }
        cursor->chunks_.emplace_back(chunk);
        return neptune::OkStatus();
      }));
  if (!cursor->chunks_.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto bytes, database.Get(TermKey('g', term)));
    const auto frequency = ReadRecord<uint32_t>(bytes.value_or(""));
    if (!frequency) {
      return neptune::DataLoss(database.directory(), ": no statistics of '", term, "'");
    }
    cursor->document_frequency_ = *frequency;
  }
  cursor->Next();
  return cursor;
}

void TermPostingCursor::Next() {
  const uint32_t last = posting_.ordinal;
  const bool is_first = next_chunk_ == 0;
  while (!damaged_ && !reader_.Next(&posting_)) {
    damaged_ = reader_.damaged();
    if (damaged_ || next_chunk_ == chunks_.size()) {
      posting_ = {.ordinal = kNoDocument, .frequencies = {}, .positions = {}};
      return;
    }
    reader_ = PostingChunkReader(chunks_[next_chunk_++]);
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
