#include "index/core/search/sample_collection.h"

#include "index/core/builder/index_builder.h"
#include "index/core/search/global_statistics.h"

namespace search::index {
namespace {

constexpr uint64_t kDocumentCount = 300;

}  // namespace

neptune::Status BuildSampleCollection(const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto builder, IndexBuilder::Create({.directory = directory}));
  for (uint64_t i = 1; i <= kDocumentCount; ++i) {
    const std::string number = "n" + std::to_string(i % 40);
    std::string body = "the segment " + number;
    for (uint64_t word = 2; word < 20; ++word) {
      if (i % word == 0) body += " every" + std::to_string(word) + " the";
    }
    NEPTUNE_RETURN_IF_ERROR(builder->Add({.doc_id = i,
                                          .title = number,
                                          .body = body,
                                          .extra_text = i % 7 == 0 ? "words of others" : "",
                                          .site = "docs.example.org",
                                          .static_rank = 0.5F}));
  }
  NEPTUNE_RETURN_IF_ERROR(builder->Finish().status());
  return ComputeGlobalStatistics({directory});
}

}  // namespace search::index
