// A judged collection: its queries, judgments and index.
//
// Reads files and builds the index if there is none.
// Threads: thread-compatible.
// Errors: those of the files, the index and the searcher.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "tools/evaluate/collection_index.h"
#include "tools/evaluate/judged_queries.h"
#include "tools/evaluate/run_file.h"
#include "tools/evaluate/setting.h"

namespace search::tools {

struct JudgedCollectionPaths {
  std::string folder;     // queries.tsv, qrels.tsv and, unless named below, docs.jsonl.zst
  std::string documents;  // empty: those of the folder
  std::string index_folder;
};

class JudgedCollection {
 public:
  static neptune::StatusOr<std::unique_ptr<JudgedCollection>> Open(
      const std::string& name, const JudgedCollectionPaths& paths);

  // Runs the judged queries with the setting.
  neptune::StatusOr<RankedLists> Run(const Setting& setting, size_t depth);
  // Runs other queries over the same documents.
  neptune::StatusOr<RankedLists> Run(const std::vector<JudgedQuery>& queries,
                                     const Setting& setting, size_t depth);

  // Explains how a document's score is computed. Errors: NOT_FOUND for an unknown query or
  // document.
  neptune::StatusOr<std::string> Explain(const Setting& setting, const std::string& query_id,
                                         const std::string& document);

  const std::string& name() const { return name_; }
  const std::string& documents_path() const { return documents_path_; }
  // Those with judgments, in the file's order.
  const std::vector<JudgedQuery>& judged_queries() const { return judged_queries_; }
  const JudgmentsByQuery& judgments() const { return judgments_; }
  const CollectionIndex& index() const { return *index_; }

 private:
  explicit JudgedCollection(std::string name) : name_(std::move(name)) {}

  const std::string name_;
  std::string documents_path_;
  std::vector<JudgedQuery> queries_;
  std::vector<JudgedQuery> judged_queries_;
  JudgmentsByQuery judgments_;
  std::unique_ptr<CollectionIndex> index_;
};

}  // namespace search::tools
