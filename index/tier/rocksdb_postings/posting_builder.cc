#include "index/tier/rocksdb_postings/posting_builder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "index/core/segment/length_code.h"
#include "index/core/segment/segment_reader.h"

namespace search::index::rocksdb_postings {
namespace {

constexpr size_t kMemorySizeMin = size_t{1} << 20;
// What a term costs in the table beside its name and bytes.
constexpr size_t kTermOverhead = 128;

AnalyzerOptions AnalyzerOptionsForBuilding() {
  AnalyzerOptions options;
  options.token_count_max = kFieldTokensMax;
  return options;
}

}  // namespace

PostingBuilder::PostingBuilder(size_t memory_size_max, std::unique_ptr<PostingDatabase> database)
    : memory_size_max_(memory_size_max),
      database_(std::move(database)),
      analyzer_(AnalyzerOptionsForBuilding()) {}

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

neptune::Status PostingBuilder::Add(const IndexedDocument& document) {
  if (!status_.ok()) return status_;
  return status_ = AddChecked(document);
}

neptune::Status PostingBuilder::AddChecked(const IndexedDocument& document) {
  if (partition_.document_count > 0 && document.doc_id <= last_doc_id_) {
    return neptune::InvalidArgument("posting builder: document ", document.doc_id, " after ",
                                    last_doc_id_);
  }
  if (!(document.static_rank >= 0 && document.static_rank <= 1)) {
    return neptune::InvalidArgument("posting builder: document ", document.doc_id,
                                    " has static rank ", document.static_rank);
  }
  if (partition_.document_count == UINT32_MAX) {
    return neptune::ResourceExhausted("posting builder: too many documents");
  }
  last_doc_id_ = document.doc_id;
  document_terms_.clear();
  const std::array<uint32_t, kFieldCount> lengths = {AddField(Field::kTitle, document.title),
                                                     AddField(Field::kBody, document.body),
                                                     AddField(Field::kExtra, document.extra_text)};
  AddSite(document.site);
  InvertDocument(static_cast<uint32_t>(partition_.document_count));

  DocumentRecord record{document.doc_id, document.static_rank, 0};
  for (size_t field = 0; field < kFieldCount; ++field) {
    record.length_codes |= uint32_t{EncodeLength(lengths[field])} << (8 * field);
    partition_.length_sums[field] += lengths[field];
  }
  documents_.push_back(record);
  ++partition_.document_count;
  if (documents_.size() == kDocumentsPerRecord) NEPTUNE_RETURN_IF_ERROR(WriteDocuments());
  return chunks_size_ >= memory_size_max_ ? WriteOut() : neptune::OkStatus();
}

uint32_t PostingBuilder::AddField(Field field, std::string_view text) {
  analyzer_.Analyze(field == Field::kTitle ? FieldKind::kTitle : FieldKind::kBody, text, &tokens_);
  uint32_t count = 0;
  for (const Token& token : tokens_) {
    if (count == kFieldTokensMax || token.position >= kFieldTokensMax) break;
    FieldPositions& positions = document_terms_[std::string(token.term)];
    positions[static_cast<size_t>(field)].push_back(token.position);
    ++count;
  }
  return count;
}

void PostingBuilder::AddSite(std::string_view site) {
  analyzer_.Analyze(FieldKind::kSite, site, &tokens_);
  for (const Token& token : tokens_) document_terms_[Segment::SiteKey(token.term)];
}

void PostingBuilder::InvertDocument(uint32_t ordinal) {
  for (const auto& [term, positions] : document_terms_) {
    const auto [chunk, is_new] = chunks_.try_emplace(term);
    const size_t size_before = chunk->second.bytes().size();
    chunk->second.Add(ordinal, positions);
    chunks_size_ += chunk->second.bytes().size() - size_before;
    if (is_new) chunks_size_ += term.size() + kTermOverhead;
  }
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
  const auto first = static_cast<uint32_t>(partition_.document_count - documents_.size());
  const std::string_view bytes(reinterpret_cast<const char*>(documents_.data()),
                               documents_.size() * sizeof(DocumentRecord));
  NEPTUNE_RETURN_IF_ERROR(database_->Put(WithOrdinal(kDocumentsPrefix, first), bytes));
  documents_.clear();
  return neptune::OkStatus();
}

neptune::Status PostingBuilder::Finish() {
  NEPTUNE_RETURN_IF_ERROR(status_);
  status_ = neptune::FailedPrecondition("posting builder: already finished");
  return FinishChecked();
}

neptune::Status PostingBuilder::FinishChecked() {
  NEPTUNE_RETURN_IF_ERROR(WriteOut());
  NEPTUNE_RETURN_IF_ERROR(WriteDocuments());
  NEPTUNE_RETURN_IF_ERROR(database_->Put(kPartitionKey, RecordBytes(partition_)));
  return database_->Close();
}

}  // namespace search::index::rocksdb_postings
