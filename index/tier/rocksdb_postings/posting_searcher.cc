#include "index/tier/rocksdb_postings/posting_searcher.h"

#include "index/tier/rocksdb_postings/query_evaluation.h"

namespace search::index::rocksdb_postings {

neptune::StatusOr<Found> PostingSearcher::Find(const EngineQuery& engine_query) {
  return QueryEvaluation(engine_query, postings_, document_count_).Run();
}

neptune::Status PostingSearcher::ReadPositions(const std::string& term, Field field,
                                               uint32_t ordinal, std::vector<uint32_t>* positions) {
  TermPostingCursor& cursor = place_cursors_.try_emplace(term, postings_.Of(term)).first->second;
  cursor.Seek(ordinal);
  if (cursor.ordinal() == ordinal) cursor.Positions(field, positions);
  if (!cursor.damaged()) return neptune::OkStatus();
  return neptune::DataLoss(postings_.directory(), ": postings of '", term, "' are damaged");
}

}  // namespace search::index::rocksdb_postings
