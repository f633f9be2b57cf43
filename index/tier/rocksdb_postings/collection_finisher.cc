#include "index/tier/engine_kit/collection_sums.h"
#include "index/tier/rocksdb_postings/document_table.h"
#include "index/tier/rocksdb_postings/keys.h"
#include "index/tier/rocksdb_postings/posting_builder.h"

namespace search::index::rocksdb_postings {
namespace {

// Calls visit(term, count) for every chunk of the database.
template <typename Visit>
neptune::Status ForEachCount(const PostingDatabase& database, const Visit& visit) {
  return database.ForEach(kCountPrefix, [&](std::string_view key, std::string_view value) {
    const auto term = TermOfChunkKey(key);
    const auto count = ReadRecord<uint32_t>(value);
    if (!term || !count)
      return neptune::DataLoss(database.directory(), ": damaged count of a term");
    return visit(*term, *count);
  });
}

neptune::Status AddPartition(const std::string& directory, CollectionSums* sums) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto database,
                           PostingDatabase::Open(directory, PostingDatabase::Mode::kReadOnly));
  NEPTUNE_ASSIGN_OR_RETURN(const auto bytes, database->Get(kPartitionKey));
  const auto partition = ReadRecord<PartitionRecord>(bytes.value_or(""));
  if (!partition) {
    return neptune::FailedPrecondition("finish collection: ", directory,
                                       " was not finished by its builder");
  }
  sums->AddPartition(*partition);
  NEPTUNE_ASSIGN_OR_RETURN(const auto documents, ReadDocuments(*database));
  for (const DocumentRecord& document : documents) sums->AddDocument(document.doc_id);
  return ForEachCount(*database, [&](std::string_view term, uint32_t count) {
    sums->AddTerm(term, count);
    return neptune::OkStatus();
  });
}

neptune::Status WriteStatistics(const std::string& directory, const CollectionRecord& collection,
                                const CollectionSums& sums) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto database,
                           PostingDatabase::Open(directory, PostingDatabase::Mode::kUpdate));
  NEPTUNE_RETURN_IF_ERROR(ForEachCount(*database, [&](std::string_view term, uint32_t) {
    const uint32_t frequency = sums.FrequencyOf(term);
    return database->Put(TermKey('g', term), RecordBytes(frequency));
  }));
  NEPTUNE_RETURN_IF_ERROR(database->Put(kCollectionKey, RecordBytes(collection)));
  return database->Close();
}

}  // namespace

neptune::Status FinishPartitions(const std::vector<std::string>& directories,
                                 const RankingOptions& ranking) {
  CollectionSums sums;
  for (const std::string& directory : directories) {
    NEPTUNE_RETURN_IF_ERROR(AddPartition(directory, &sums));
  }
  NEPTUNE_ASSIGN_OR_RETURN(const CollectionRecord collection, sums.Finish(ranking));
  for (const std::string& directory : directories) {
    NEPTUNE_RETURN_IF_ERROR(WriteStatistics(directory, collection, sums));
  }
  return neptune::OkStatus();
}

}  // namespace search::index::rocksdb_postings
