#include "index/tier/rocksdb_postings/place_reader.h"

namespace search::index::rocksdb_postings {

neptune::Status PlaceReader::Read(const ScoringWord& word, uint32_t ordinal, WordPlaces* places) {
  TermPostingCursor& cursor = cursors_[word.title_only ? 1 : 0]
                                  .try_emplace(word.term, postings_.Of(word.term))
                                  .first->second;
  cursor.Seek(ordinal);
  for (size_t field = 0; cursor.ordinal() == ordinal && field < (word.title_only ? 1 : kFieldCount);
       ++field) {
    places->frequencies[field] = cursor.posting().frequencies[field];
    cursor.Positions(static_cast<Field>(field), &places->positions[field]);
  }
  if (!cursor.damaged()) return neptune::OkStatus();
  return neptune::DataLoss(postings_.directory(), ": postings of '", word.term, "' are damaged");
}

}  // namespace search::index::rocksdb_postings
