#include "index/tier/rocksdb_postings/document_table.h"

#include "index/tier/rocksdb_postings/keys.h"

namespace search::index::rocksdb_postings {

neptune::StatusOr<std::vector<DocumentRecord>> ReadDocuments(const PostingDatabase& database) {
  std::vector<DocumentRecord> documents;
  NEPTUNE_RETURN_IF_ERROR(database.ForEach(kDocumentsPrefix, [&](std::string_view key,
                                                                 std::string_view value) {
    const std::string expected =
        WithOrdinal(kDocumentsPrefix, static_cast<uint32_t>(documents.size()));
    if (key != expected || value.size() % sizeof(DocumentRecord) != 0) {
      return neptune::DataLoss(database.directory(), ": damaged table of documents");
    }
    for (; !value.empty(); value.remove_prefix(sizeof(DocumentRecord))) {
      const auto record = ReadRecord<DocumentRecord>(value.substr(0, sizeof(DocumentRecord)));
      if (!MayFollow(*record, documents.empty() ? nullptr : &documents.back())) {
        return neptune::DataLoss(database.directory(), ": impossible document ", record->doc_id);
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

}  // namespace search::index::rocksdb_postings
