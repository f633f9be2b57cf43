#include "index/tier/rocksdb_postings/document_table.h"

namespace search::index::rocksdb_postings {

neptune::StatusOr<std::vector<DocumentRecord>> ReadDocuments(const PostingDatabase& database) {
  std::vector<DocumentRecord> documents;
  NEPTUNE_RETURN_IF_ERROR(
      database.ForEach(kDocumentsPrefix, [&](std::string_view key, std::string_view value) {
        const std::string expected =
            WithOrdinal(kDocumentsPrefix, static_cast<uint32_t>(documents.size()));
        if (key != expected || value.size() % sizeof(DocumentRecord) != 0) {
          return neptune::DataLoss(database.directory(), ": damaged table of documents");
        }
        for (; !value.empty(); value.remove_prefix(sizeof(DocumentRecord))) {
          const auto record = ReadRecord<DocumentRecord>(value.substr(0, sizeof(DocumentRecord)));
          if (!documents.empty() && record->doc_id <= documents.back().doc_id) {
            return neptune::DataLoss(database.directory(), ": documents are out of order");
          }
          if (!(record->static_rank >= 0 && record->static_rank <= 1)) {
            return neptune::DataLoss(database.directory(), ": impossible static rank");
          }
          documents.push_back(*record);
        }
        return neptune::OkStatus();
      }));
  return documents;
}

neptune::StatusOr<CollectionRecord> ReadCollection(const PostingDatabase& database) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto bytes, database.Get(kCollectionKey));
  if (!bytes) {
    return neptune::FailedPrecondition(database.directory(), ": the collection was not finished");
  }
  const auto collection = ReadRecord<CollectionRecord>(*bytes);
  if (!collection || !IsValid(RankingOf(*collection))) {
    return neptune::DataLoss(database.directory(), ": damaged statistics");
  }
  return *collection;
}

RankingOptions RankingOf(const CollectionRecord& collection) {
  RankingOptions ranking;
  ranking.k1 = collection.k1;
  ranking.static_rank_weight = collection.static_rank_weight;
  for (size_t field = 0; field < kFieldCount; ++field) {
    ranking.fields[field] = {.weight = collection.weights[field], .b = collection.bs[field]};
  }
  return ranking;
}

}  // namespace search::index::rocksdb_postings
