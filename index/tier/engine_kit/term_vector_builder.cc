#include "index/tier/engine_kit/term_vector_builder.h"

#include "index/core/segment/length_code.h"
#include "index/core/segment/segment_reader.h"

namespace search::index {
namespace {

AnalyzerOptions AnalyzerOptionsForBuilding() {
  AnalyzerOptions options;
  options.token_count_max = kFieldTokensMax;
  return options;
}

}  // namespace

TermVectorBuilder::TermVectorBuilder() : analyzer_(AnalyzerOptionsForBuilding()) {}

neptune::Status TermVectorBuilder::Add(const IndexedDocument& document) {
  if (status_.ok()) status_ = Check(document);
  NEPTUNE_RETURN_IF_ERROR(status_);
  terms_.clear();
  const std::array<uint32_t, kFieldCount> lengths = {AddField(Field::kTitle, document.title),
                                                     AddField(Field::kBody, document.body),
                                                     AddField(Field::kExtra, document.extra_text)};
  AddSite(document.site);
  record_ = {document.doc_id, document.static_rank, 0};
  for (size_t field = 0; field < kFieldCount; ++field) {
    record_.length_codes |= uint32_t{EncodeLength(lengths[field])} << (8 * field);
    partition_.length_sums[field] += lengths[field];
  }
  posting_count_ = terms_.size() + lengths[0] + lengths[1] + lengths[2];
  ++partition_.document_count;
  return neptune::OkStatus();
}

neptune::Status TermVectorBuilder::Check(const IndexedDocument& document) const {
  if (partition_.document_count > 0 && document.doc_id <= record_.doc_id) {
    return neptune::InvalidArgument("build partition: document ", document.doc_id, " after ",
                                    record_.doc_id);
  }
  if (!(document.static_rank >= 0 && document.static_rank <= 1)) {
    return neptune::InvalidArgument("build partition: document ", document.doc_id,
                                    " has static rank ", document.static_rank);
  }
  if (partition_.document_count == UINT32_MAX) {
    return neptune::ResourceExhausted("build partition: too many documents");
  }
  return neptune::OkStatus();
}

uint32_t TermVectorBuilder::AddField(Field field, std::string_view text) {
  analyzer_.Analyze(field == Field::kTitle ? FieldKind::kTitle : FieldKind::kBody, text, &tokens_);
  uint32_t count = 0;
  for (const Token& token : tokens_) {
    if (count == kFieldTokensMax || token.position >= kFieldTokensMax) break;
    terms_[std::string(token.term)][static_cast<size_t>(field)].push_back(token.position);
    ++count;
  }
  return count;
}

void TermVectorBuilder::AddSite(std::string_view site) {
  analyzer_.Analyze(FieldKind::kSite, site, &tokens_);
  for (const Token& token : tokens_) terms_[Segment::SiteKey(token.term)];
}

}  // namespace search::index
