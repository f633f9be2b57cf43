#include "index/core/builder/postings_importer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "index/core/builder/finish_segment.h"
#include "index/core/segment/format.h"
#include "index/core/segment/segment_writer.h"

namespace search::index {

neptune::StatusOr<std::unique_ptr<PostingsImporter>> PostingsImporter::Create(
    const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return neptune::Unavailable("cannot create folder ", directory, ": ", error.message());
  }
  NEPTUNE_ASSIGN_OR_RETURN(auto writer, SegmentWriter::Create(directory));
  writer->OmitPositions();
  return std::unique_ptr<PostingsImporter>(new PostingsImporter(directory, std::move(writer)));
}

PostingsImporter::PostingsImporter(std::string directory, std::unique_ptr<SegmentWriter> writer)
    : directory_(std::move(directory)), writer_(std::move(writer)) {}
PostingsImporter::~PostingsImporter() = default;

bool PostingsImporter::IsPossibleKey(std::string_view key) {
  return key.size() <= kTermKeySizeMax && IsWordKey(key);
}

neptune::Status PostingsImporter::BeginTerm(std::string_view key) {
  if (!IsPossibleKey(key)) return neptune::InvalidArgument("postings: invalid term");
  if (in_term_) {
    if (key <= key_)
      return neptune::InvalidArgument("postings: term '", key, "' after '", key_, "'");
    writer_->EndTerm();
  }
  key_.assign(key);
  in_term_ = true;
  next_ordinal_ = 0;
  writer_->BeginTerm(key);
  return neptune::OkStatus();
}

neptune::Status PostingsImporter::AddPosting(std::string_view key, uint32_t ordinal,
                                             uint32_t frequency) {
  if (!in_term_ || key != key_) NEPTUNE_RETURN_IF_ERROR(BeginTerm(key));
  if (ordinal < next_ordinal_ || ordinal >= kSegmentDocumentsMax) {
    return neptune::InvalidArgument("postings: document ", ordinal, " of term '", key,
                                    "' is out of order or over the limit");
  }
  next_ordinal_ = ordinal + 1;
  ordinals_end_ = std::max(ordinals_end_, next_ordinal_);
  writer_->AddPosting(ordinal, {0, frequency, 0}, {});
  return neptune::OkStatus();
}

neptune::Status PostingsImporter::AddDocument(uint64_t doc_id, uint32_t length) {
  if (writer_->document_count() > 0 && doc_id <= last_doc_id_) {
    return neptune::InvalidArgument("postings: document ", doc_id, " after ", last_doc_id_);
  }
  if (writer_->document_count() == kSegmentDocumentsMax) {
    return neptune::ResourceExhausted("postings: more than ", kSegmentDocumentsMax, " documents");
  }
  last_doc_id_ = doc_id;
  writer_->AddDocument(doc_id, /*static_rank=*/0, {0, length, 0});
  return neptune::OkStatus();
}

neptune::StatusOr<SegmentSummary> PostingsImporter::Finish() {
  if (ordinals_end_ > writer_->document_count()) {
    return neptune::InvalidArgument("postings: document ", ordinals_end_ - 1,
                                    " is out of range: only ", writer_->document_count(),
                                    " documents");
  }
  if (in_term_) writer_->EndTerm();
  in_term_ = false;
  return FinishSegment(*writer_, directory_);
}

}  // namespace search::index
