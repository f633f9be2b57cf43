#include "index/updates/document_change.h"

#include <xxhash.h>

#include "absl/container/flat_hash_set.h"
#include "index/core/document_fields.h"
#include "neptune/base/utf8.h"

namespace search::index {
namespace {

neptune::Status CheckText(uint64_t doc_id, std::string_view name, std::string_view text,
                          size_t size_max) {
  if (text.size() > size_max) {
    return neptune::InvalidArgument("document ", doc_id, ": ", name, " has ", text.size(),
                                    " bytes, more than ", size_max);
  }
  if (!neptune::IsUtf8(text)) {
    return neptune::InvalidArgument("document ", doc_id, ": ", name, " is not UTF-8");
  }
  return neptune::OkStatus();
}

neptune::Status CheckContent(uint64_t doc_id, const DocumentContent& content) {
  NEPTUNE_RETURN_IF_ERROR(CheckText(doc_id, "url", content.url(), kUrlSizeMax));
  NEPTUNE_RETURN_IF_ERROR(CheckText(doc_id, "title", content.title(), kTitleSizeMax));
  NEPTUNE_RETURN_IF_ERROR(CheckText(doc_id, "text", content.text(), kTextSizeMax));
  NEPTUNE_RETURN_IF_ERROR(CheckText(doc_id, "extra text", content.extra_text(), kExtraTextSizeMax));
  NEPTUNE_RETURN_IF_ERROR(CheckText(doc_id, "site", content.site(), kSiteSizeMax));
  const bool is_day = content.date().size() == 10 && ParseDate(content.date()).has_value();
  if (!content.date().empty() && !is_day) {
    return neptune::InvalidArgument("document ", doc_id, ": the date is not YYYY-MM-DD");
  }
  if (!content.language().empty() && FoldedLanguage(content.language()).empty()) {
    return neptune::InvalidArgument("document ", doc_id, ": the language is not a tag, as en");
  }
  NEPTUNE_RETURN_IF_ERROR(CheckText(doc_id, "structure", content.structure(), kStructureSizeMax));
  if (content.url().empty()) return neptune::InvalidArgument("document ", doc_id, " has no url");
  if (content.has_static_rank() && !(content.static_rank() >= 0 && content.static_rank() <= 1)) {
    return neptune::InvalidArgument("document ", doc_id, " has static rank ", content.static_rank(),
                                    ", not 0 to 1");
  }
  return neptune::OkStatus();
}

neptune::Status CheckStatistics(const StatisticsPiece& piece) {
  if (piece.version() == 0 || piece.count() == 0 || piece.count() > kStatisticsPiecesMax ||
      piece.index() >= piece.count()) {
    return neptune::InvalidArgument("statistics ", piece.version(), ": piece ", piece.index(),
                                    " of ", piece.count());
  }
  if (piece.data().size() > kStatisticsPieceSizeMax) {
    return neptune::InvalidArgument("statistics ", piece.version(), ": a piece of ",
                                    piece.data().size(), " bytes, more than ",
                                    kStatisticsPieceSizeMax);
  }
  return neptune::OkStatus();
}

}  // namespace

uint64_t DocIdOfUrl(std::string_view url) { return kFirstHashedDocId | HashOfUrl(url); }

uint64_t HashOfUrl(std::string_view url) { return XXH3_64bits(url.data(), url.size()); }

neptune::Status CheckDocumentChange(const DocumentChange& change) {
  switch (change.what_case()) {
    case DocumentChange::kUpsert:
      return CheckContent(change.doc_id(), change.upsert());
    case DocumentChange::kRemoval:
      return neptune::OkStatus();
    case DocumentChange::WHAT_NOT_SET:
      break;
  }
  return neptune::InvalidArgument("document ", change.doc_id(), ": neither content nor removal");
}

neptune::Status CheckPartitionChange(const PartitionChange& change) {
  if (change.documents_size() > kDocumentsOfChangeMax) {
    return neptune::InvalidArgument("a change of ", change.documents_size(),
                                    " documents, more than ", kDocumentsOfChangeMax);
  }
  absl::flat_hash_set<uint64_t> seen;
  for (const DocumentChange& document : change.documents()) {
    NEPTUNE_RETURN_IF_ERROR(CheckDocumentChange(document));
    if (!seen.insert(document.doc_id()).second) {
      return neptune::InvalidArgument("document ", document.doc_id(), " occurs twice in a change");
    }
  }
  if (change.has_request_key() && (change.request_key().key().size() != kRequestKeySize ||
                                   change.request_key().version() == 0)) {
    return neptune::InvalidArgument("a request's key of ", change.request_key().key().size(),
                                    " bytes and version ", change.request_key().version());
  }
  return change.has_statistics() ? CheckStatistics(change.statistics()) : neptune::OkStatus();
}

neptune::StatusOr<PartitionChange> ParsePartitionChange(std::string_view bytes) {
  if (bytes.size() > kPartitionChangeSizeMax) {
    return neptune::InvalidArgument("a change of ", bytes.size(), " bytes, more than ",
                                    kPartitionChangeSizeMax);
  }
  PartitionChange change;
  if (!change.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return neptune::InvalidArgument(bytes.size(), " bytes are not a valid change of documents");
  }
  NEPTUNE_RETURN_IF_ERROR(CheckPartitionChange(change));
  return change;
}

}  // namespace search::index
