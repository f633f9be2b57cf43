#include "index/core/builder/segment_merger.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace search::index {
namespace {

struct LivingDocument {
  uint64_t doc_id = 0;
  uint32_t input = 0;
  uint32_t ordinal = 0;
};

neptune::StatusOr<std::vector<LivingDocument>> LivingDocuments(
    const std::vector<MergeInput>& inputs) {
  std::vector<LivingDocument> documents;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const auto [segment, live] = inputs[i];
    if (live != nullptr && live->document_count() != segment->document_count()) {
      return neptune::InvalidArgument(
          "merging segments: the live documents do not belong to segment ", segment->name());
    }
    for (uint32_t ordinal = 0; ordinal < segment->document_count(); ++ordinal) {
      if (live != nullptr && !live->IsLive(ordinal)) continue;
      documents.push_back({segment->doc_ids()[ordinal], i, ordinal});
    }
  }
  std::sort(documents.begin(), documents.end(),
            [](const LivingDocument& a, const LivingDocument& b) { return a.doc_id < b.doc_id; });
  for (size_t i = 1; i < documents.size(); ++i) {
    if (documents[i].doc_id == documents[i - 1].doc_id) {
      return neptune::InvalidArgument("merging segments: document ", documents[i].doc_id,
                                      " occurs twice, once in ",
                                      inputs[documents[i].input].segment->name());
    }
  }
  return documents;
}

}  // namespace

neptune::StatusOr<std::unique_ptr<SegmentRewrite>> BeginMerge(const std::vector<MergeInput>& inputs,
                                                              const std::string& directory,
                                                              Durability durability) {
  std::vector<RewriteInput> rewritten;
  for (const MergeInput& input : inputs) {
    rewritten.push_back({input.segment, std::vector<uint32_t>(input.segment->document_count(),  //
                                                              kLeftOut)});
  }
  uint32_t document_count = 0;
  {
    NEPTUNE_ASSIGN_OR_RETURN(const auto documents, LivingDocuments(inputs));
    if (documents.size() > kSegmentDocumentsMax) {
      return neptune::ResourceExhausted("merging segments: ", documents.size(),
                                        " documents, at most ", kSegmentDocumentsMax,
                                        " are allowed");
    }
    for (const LivingDocument& document : documents) {
      rewritten[document.input].new_ordinals[document.ordinal] = document_count++;
    }
  }
  return SegmentRewrite::Begin(std::move(rewritten), document_count, directory, durability);
}

neptune::StatusOr<SegmentSummary> MergeSegments(const std::vector<MergeInput>& inputs,
                                                const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(auto merge, BeginMerge(inputs, directory));
  NEPTUNE_RETURN_IF_ERROR(merge->Step(UINT64_MAX).status());
  return merge->Finish();
}

}  // namespace search::index
