#include "index/tier/engine_kit/engine_tables.h"

#include <algorithm>

#include "neptune/base/byte_order.h"

namespace search::index {
namespace {

constexpr char kCollectionKey[] = "c";
constexpr char kPartitionKey[] = "p";

std::string DocumentsKey(uint32_t first_ordinal) {
  std::string key = "d";
  neptune::ByteWriter(&key).Number(first_ordinal);
  return key;
}

}  // namespace

std::string FrequencyKey(std::string_view term) {
  if (term.empty() || term.size() + 2 > kEngineKeySizeMax) return std::string();
  return neptune::StrCat("g", std::string(1, static_cast<char>(term.size())), term);
}

neptune::Status DocumentTableWriter::Add(const DocumentRecord& document, EngineStore* store) {
  pending_.push_back(document);
  return pending_.size() == kDocumentsPerValue ? WriteOut(store) : neptune::OkStatus();
}

neptune::Status DocumentTableWriter::Finish(const PartitionRecord& partition, EngineStore* store) {
  NEPTUNE_RETURN_IF_ERROR(WriteOut(store));
  return store->Put(kPartitionKey, RecordBytes(partition));
}

neptune::Status DocumentTableWriter::WriteOut(EngineStore* store) {
  if (pending_.empty()) return neptune::OkStatus();
  const std::string_view bytes(reinterpret_cast<const char*>(pending_.data()),
                               pending_.size() * sizeof(DocumentRecord));
  NEPTUNE_RETURN_IF_ERROR(store->Put(DocumentsKey(written_count_), bytes));
  written_count_ += static_cast<uint32_t>(pending_.size());
  pending_.clear();
  return neptune::OkStatus();
}

neptune::StatusOr<PartitionRecord> ReadPartition(const EngineStore& store,
                                                 const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, store.Get(kPartitionKey));
  if (bytes.empty()) {
    return neptune::FailedPrecondition(directory, ": the partition was not finished");
  }
  const auto partition = ReadRecord<PartitionRecord>(bytes);
  if (!partition || partition->document_count > UINT32_MAX) {
    return neptune::DataLoss(directory, ": damaged record of the partition");
  }
  return *partition;
}

neptune::StatusOr<std::vector<DocumentRecord>> ReadDocuments(const EngineStore& store,
                                                             const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(const PartitionRecord partition, ReadPartition(store, directory));
  std::vector<DocumentRecord> documents;
  while (documents.size() < partition.document_count) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes,
                             store.Get(DocumentsKey(static_cast<uint32_t>(documents.size()))));
    const uint64_t left = partition.document_count - documents.size();
    const uint64_t count = std::min<uint64_t>(left, kDocumentsPerValue);
    if (bytes.size() != count * sizeof(DocumentRecord)) {
      return neptune::DataLoss(directory, ": damaged table of documents");
    }
    for (std::string_view rest = bytes; !rest.empty(); rest.remove_prefix(sizeof(DocumentRecord))) {
      const auto record = ReadRecord<DocumentRecord>(rest.substr(0, sizeof(DocumentRecord)));
      if (!MayFollow(*record, documents.empty() ? nullptr : &documents.back())) {
        return neptune::DataLoss(directory, ": invalid record of document ", record->doc_id);
      }
      documents.push_back(*record);
    }
  }
  return documents;
}

neptune::StatusOr<CollectionRecord> ReadCollection(const EngineStore& store,
                                                   const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, store.Get(kCollectionKey));
  if (bytes.empty()) {
    return neptune::FailedPrecondition(directory, ": the collection was not finished");
  }
  const auto collection = ReadRecord<CollectionRecord>(bytes);
  if (!collection || !IsValid(RankingOf(*collection))) {
    return neptune::DataLoss(directory, ": damaged statistics");
  }
  return *collection;
}

neptune::Status WriteCollection(const CollectionRecord& collection, EngineStore* store) {
  return store->Put(kCollectionKey, RecordBytes(collection));
}

neptune::StatusOr<uint64_t> ReadFrequency(const EngineStore& store, std::string_view term) {
  const std::string key = FrequencyKey(term);
  if (key.empty()) return uint64_t{0};
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, store.Get(key));
  const auto frequency = ReadRecord<uint32_t>(bytes);
  if (!bytes.empty() && !frequency) return neptune::DataLoss("damaged statistics of '", term, "'");
  return uint64_t{frequency.value_or(0)};
}

neptune::Status WriteFrequency(std::string_view term, uint32_t frequency, EngineStore* store) {
  const std::string key = FrequencyKey(term);
  if (key.empty()) return neptune::Internal("term of ", term.size(), " bytes");
  return store->Put(key, RecordBytes(frequency));
}

}  // namespace search::index
