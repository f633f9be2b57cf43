#include "index/tier/rocksdb_postings/posting_store.h"

#include <utility>

#include "index/tier/rocksdb_postings/keys.h"

namespace search::index::rocksdb_postings {
namespace {

// Memory per term in the table, in addition to its name and bytes.
constexpr size_t kTermOverhead = 128;

PostingDatabase::Mode DatabaseMode(EngineMode mode) {
  switch (mode) {
    case EngineMode::kCreate:
      return PostingDatabase::Mode::kCreate;
    case EngineMode::kUpdate:
      return PostingDatabase::Mode::kUpdate;
    case EngineMode::kRead:
      break;
  }
  return PostingDatabase::Mode::kReadOnly;
}

}  // namespace

neptune::StatusOr<std::unique_ptr<EngineStore>> PostingStore::Open(
    const TierBuilderOptions& options, EngineMode mode) {
  NEPTUNE_ASSIGN_OR_RETURN(auto database,
                           PostingDatabase::Open(options.directory, DatabaseMode(mode)));
  return std::unique_ptr<EngineStore>(
      new PostingStore(options.memory_size_max, std::move(database)));
}

neptune::Status PostingStore::Write(const TermVectorBuilder& document) {
  for (const auto& [term, positions] : document.terms()) {
    const auto [chunk, is_new] = chunks_.try_emplace(term);
    const size_t size_before = chunk->second.bytes().size();
    chunk->second.Add(document_count_, positions);
    chunks_size_ += chunk->second.bytes().size() - size_before;
    if (is_new) chunks_size_ += term.size() + kTermOverhead;
  }
  ++document_count_;
  return chunks_size_ >= memory_size_max_ ? WriteOut() : neptune::OkStatus();
}

neptune::StatusOr<std::string> PostingStore::Get(const std::string& key) const {
  NEPTUNE_ASSIGN_OR_RETURN(auto value, database_->Get(key));
  return std::move(value).value_or(std::string());
}

neptune::Status PostingStore::ForEachTerm(const VisitTerm& visit) const {
  return database_->ForEach(kCountPrefix, [&](std::string_view key, std::string_view value) {
    const auto term = TermOfChunkKey(key);
    const auto count = ReadRecord<uint32_t>(value);
    if (!term || !count) {
      return neptune::DataLoss(database_->directory(), ": damaged document count of a term");
    }
    return visit(*term, *count);
  });
}

neptune::Status PostingStore::Close() {
  NEPTUNE_RETURN_IF_ERROR(WriteOut());
  return database_->Close();
}

neptune::Status PostingStore::WriteOut() {
  for (const auto& [term, chunk] : chunks_) {
    const uint32_t first = chunk.first_ordinal();
    NEPTUNE_RETURN_IF_ERROR(database_->Put(WithOrdinal(TermKey('t', term), first), chunk.bytes()));
    NEPTUNE_RETURN_IF_ERROR(database_->Put(WithOrdinal(TermKey(kCountPrefix[0], term), first),
                                           RecordBytes(chunk.posting_count())));
  }
  chunks_.clear();
  chunks_size_ = 0;
  return neptune::OkStatus();
}

}  // namespace search::index::rocksdb_postings
