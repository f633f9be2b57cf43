#include "tools/evaluate/collection_index.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "index/core/builder/index_builder.h"
#include "index/core/search/global_statistics.h"
#include "tools/corpus/corpus_document.h"
#include "tools/corpus/json_lines.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;

constexpr index::ParseLimits kQueryLimits = {.query_size_max = size_t{1} << 18};

Status AddDocument(uint64_t number, const CorpusDocument& document,
                   const LinkEvidenceByUrl& evidence, index::IndexBuilder* builder) {
  index::IndexedDocument indexed = {
      .doc_id = number, .title = document.title, .body = document.text};
  if (const auto found = evidence.find(document.url); found != evidence.end()) {
    indexed.extra_text = found->second.extra_text;
    indexed.static_rank = found->second.static_rank;
  }
  return builder->Add(indexed);
}

}  // namespace

// Reads the ids and, with a folder to build in, the documents.
Status CollectionIndex::Read(const std::string& documents_path, const std::string& build_folder,
                             const LinkEvidenceByUrl& evidence) {
  std::unique_ptr<index::IndexBuilder> builder;
  if (!build_folder.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(builder, index::IndexBuilder::Create({.directory = build_folder}));
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(documents_path));
  LineReader reader(source.get(), CorpusLimits::kLineSizeMax);
  LineReader::Line line;
  JsonLineParser parser({.id_url_prefix = "", .default_site = ""});
  ids_.assign(1, "");
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool has_line, reader.Next(&line));
    if (!has_line) break;
    if (line.number > kDocumentsMax) {
      return neptune::InvalidArgument(documents_path, ": more than ", kDocumentsMax, " documents");
    }
    ids_.resize(line.number + 1);
    auto document = parser.Parse(line.text);
    if (!document.ok()) {
      if (left_out_count_++ == 0) {
        first_left_out_ = neptune::StrCat(documents_path, ":", line.number, ": ",
                                          neptune::ToStd(document.status().message()));
      }
      continue;
    }
    if (builder != nullptr) {
      NEPTUNE_RETURN_IF_ERROR(AddDocument(line.number, *document, evidence, builder.get()));
    }
    ids_.back() = std::move(document->url);
  }
  return builder == nullptr ? neptune::OkStatus() : builder->Finish().status();
}

StatusOr<std::unique_ptr<CollectionIndex>> CollectionIndex::Open(
    const std::string& documents_path, const std::string& folder,
    const LinkEvidenceByUrl& evidence) {
  std::unique_ptr<CollectionIndex> index(new CollectionIndex());
  const bool is_built = std::filesystem::exists(folder + "/statistics");
  NEPTUNE_RETURN_IF_ERROR(index->Read(documents_path, is_built ? "" : folder, evidence));
  if (!is_built) NEPTUNE_RETURN_IF_ERROR(index::ComputeGlobalStatistics({folder}));
  NEPTUNE_ASSIGN_OR_RETURN(index->segment_, index::Segment::Open(folder));
  NEPTUNE_ASSIGN_OR_RETURN(index->statistics_,
                           index::CollectionStatistics::Open(folder, *index->segment_, {}));
  NEPTUNE_RETURN_IF_ERROR(index->Use({}));
  const uint32_t count = index->segment_->document_count();
  if (count > 0 && index->segment_->doc_id_in_order(count - 1) >= index->ids_.size()) {
    return neptune::InvalidArgument(folder, ": not an index of ", documents_path);
  }
  return index;
}

Status CollectionIndex::Use(const Setting& setting) {
  const bool is_same = searcher_ != nullptr && setting.ranking == setting_.ranking;
  setting_ = setting;
  if (is_same) return neptune::OkStatus();
  NEPTUNE_ASSIGN_OR_RETURN(searcher_,
                           index::Searcher::Create(*segment_, *statistics_, setting.ranking));
  return neptune::OkStatus();
}

StatusOr<std::vector<RunEntry>> CollectionIndex::Rank(const std::string& text, size_t depth) const {
  NEPTUNE_ASSIGN_OR_RETURN(const index::Query query, index::AnyWordOf(text, kQueryLimits));
  NEPTUNE_ASSIGN_OR_RETURN(
      const index::SearchResult result,
      searcher_->Search(query, {.k = depth,
                                .second_phase_count = setting_.second_phase_count,
                                .second_phase = setting_.second_phase}));
  std::vector<RunEntry> entries;
  for (const index::Hit& hit : result.hits) {
    if (entries.size() == depth) break;
    entries.push_back({ids_[hit.doc_id], static_cast<double>(FinalScore(hit))});
  }
  return entries;
}

StatusOr<std::string> CollectionIndex::Explain(const std::string& text,
                                               const std::string& document) const {
  const auto at = std::find(ids_.begin() + 1, ids_.end(), document);
  if (document.empty() || at == ids_.end()) {
    return neptune::NotFound("document '", document, "' is not in the collection");
  }
  NEPTUNE_ASSIGN_OR_RETURN(const index::Query query, index::AnyWordOf(text, kQueryLimits));
  NEPTUNE_ASSIGN_OR_RETURN(
      const index::Explanation explanation,
      searcher_->Explain(query, static_cast<uint64_t>(at - ids_.begin()), setting_.second_phase));
  return ToText(explanation);
}

}  // namespace search::tools
