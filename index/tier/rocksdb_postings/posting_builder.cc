#include "index/tier/rocksdb_postings/posting_builder.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "index/tier/rocksdb_postings/keys.h"

namespace search::index::rocksdb_postings {
namespace {

constexpr size_t kMemorySizeMin = size_t{1} << 20;
// What a term costs in the table beside its name and bytes.
constexpr size_t kTermOverhead = 128;

}  // namespace

PostingBuilder::PostingBuilder(size_t memory_size_max, std::unique_ptr<PostingDatabase> database)
    : memory_size_max_(memory_size_max), database_(std::move(database)) {}

neptune::StatusOr<std::unique_ptr<PostingBuilder>> PostingBuilder::Create(
    const TierBuilderOptions& options) {
  if (options.memory_size_max < kMemorySizeMin) {
    return neptune::InvalidArgument("posting builder: memory_size_max ", options.memory_size_max,
                                    " is less than 1 MiB");
  }
  std::error_code error;
  std::filesystem::create_directories(options.directory, error);
  if (error) return neptune::Unavailable("create ", options.directory, ": ", error.message());
  NEPTUNE_ASSIGN_OR_RETURN(
      auto database, PostingDatabase::Open(options.directory, PostingDatabase::Mode::kCreate));
  return std::unique_ptr<PostingBuilder>(
      new PostingBuilder(options.memory_size_max, std::move(database)));
}

neptune::Status PostingBuilder::Write(const DocumentInverter& document) {
  for (const auto& [term, positions] : document.terms()) {
    const auto [chunk, is_new] = chunks_.try_emplace(term);
    const size_t size_before = chunk->second.bytes().size();
    chunk->second.Add(document_count_, positions);
    chunks_size_ += chunk->second.bytes().size() - size_before;
    if (is_new) chunks_size_ += term.size() + kTermOverhead;
  }
  ++document_count_;
  documents_.push_back(document.record());
  if (documents_.size() == kDocumentsPerRecord) NEPTUNE_RETURN_IF_ERROR(WriteDocuments());
  return chunks_size_ >= memory_size_max_ ? WriteOut() : neptune::OkStatus();
}

neptune::Status PostingBuilder::WriteOut() {
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

neptune::Status PostingBuilder::WriteDocuments() {
  if (documents_.empty()) return neptune::OkStatus();
  const auto first = static_cast<uint32_t>(document_count_ - documents_.size());
  const std::string_view bytes(reinterpret_cast<const char*>(documents_.data()),
                               documents_.size() * sizeof(DocumentRecord));
  NEPTUNE_RETURN_IF_ERROR(database_->Put(WithOrdinal(kDocumentsPrefix, first), bytes));
  documents_.clear();
  return neptune::OkStatus();
}

neptune::Status PostingBuilder::Close(const PartitionRecord& partition) {
  NEPTUNE_RETURN_IF_ERROR(WriteOut());
  NEPTUNE_RETURN_IF_ERROR(WriteDocuments());
  NEPTUNE_RETURN_IF_ERROR(database_->Put(kPartitionKey, RecordBytes(partition)));
  return database_->Close();
}

}  // namespace search::index::rocksdb_postings
