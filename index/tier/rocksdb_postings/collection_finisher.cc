#include <algorithm>

#include "index/tier/rocksdb_postings/document_table.h"
#include "index/tier/rocksdb_postings/posting_builder.h"

namespace search::index::rocksdb_postings {
namespace {

using Frequencies = absl::flat_hash_map<std::string, uint64_t>;

neptune::Status AddPartition(const PostingDatabase& database, CollectionRecord* collection) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto bytes, database.Get(kPartitionKey));
  const auto partition = ReadRecord<PartitionRecord>(bytes.value_or(""));
  if (!partition) {
    return neptune::FailedPrecondition("finish collection: ", database.directory(),
                                       " was not finished by its builder");
  }
  collection->document_count += partition->document_count;
  for (size_t field = 0; field < kFieldCount; ++field) {
    collection->length_sums[field] += partition->length_sums[field];
  }
  return neptune::OkStatus();
}

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

neptune::Status CheckDocIdsAreUnique(std::vector<uint64_t> doc_ids) {
  std::sort(doc_ids.begin(), doc_ids.end());
  const auto twice = std::adjacent_find(doc_ids.begin(), doc_ids.end());
  if (twice == doc_ids.end()) return neptune::OkStatus();
  return neptune::InvalidArgument("finish collection: document ", *twice, " stands twice");
}

neptune::StatusOr<CollectionRecord> GatherStatistics(const std::vector<std::string>& directories,
                                                     Frequencies* frequencies) {
  CollectionRecord collection;
  std::vector<uint64_t> doc_ids;
  for (const std::string& directory : directories) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto database,
                             PostingDatabase::Open(directory, PostingDatabase::Mode::kReadOnly));
    NEPTUNE_RETURN_IF_ERROR(AddPartition(*database, &collection));
    NEPTUNE_ASSIGN_OR_RETURN(const auto documents, ReadDocuments(*database));
    for (const DocumentRecord& document : documents) doc_ids.push_back(document.doc_id);
    NEPTUNE_RETURN_IF_ERROR(ForEachCount(*database, [&](std::string_view term, uint32_t count) {
      (*frequencies)[std::string(term)] += count;
      return neptune::OkStatus();
    }));
  }
  NEPTUNE_RETURN_IF_ERROR(CheckDocIdsAreUnique(std::move(doc_ids)));
  return collection;
}

neptune::Status WriteStatistics(const std::string& directory, const CollectionRecord& collection,
                                const Frequencies& frequencies) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto database,
                           PostingDatabase::Open(directory, PostingDatabase::Mode::kUpdate));
  NEPTUNE_RETURN_IF_ERROR(ForEachCount(*database, [&](std::string_view term, uint32_t) {
    const uint64_t frequency = frequencies.at(std::string(term));
    const auto stored = static_cast<uint32_t>(std::min<uint64_t>(frequency, UINT32_MAX));
    return database->Put(TermKey('g', term), RecordBytes(stored));
  }));
  NEPTUNE_RETURN_IF_ERROR(database->Put(kCollectionKey, RecordBytes(collection)));
  return database->Close();
}

}  // namespace

neptune::Status FinishPartitions(const std::vector<std::string>& directories,
                                 const RankingOptions& ranking) {
  if (!IsValid(ranking)) return neptune::InvalidArgument("finish collection: impossible ranking");
  Frequencies frequencies;
  NEPTUNE_ASSIGN_OR_RETURN(CollectionRecord collection,
                           GatherStatistics(directories, &frequencies));
  collection.k1 = ranking.k1;
  collection.static_rank_weight = ranking.static_rank_weight;
  for (size_t field = 0; field < kFieldCount; ++field) {
    collection.weights[field] = ranking.fields[field].weight;
    collection.bs[field] = ranking.fields[field].b;
  }
  for (const std::string& directory : directories) {
    NEPTUNE_RETURN_IF_ERROR(WriteStatistics(directory, collection, frequencies));
  }
  return neptune::OkStatus();
}

}  // namespace search::index::rocksdb_postings
