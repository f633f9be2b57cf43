#include "tools/evaluate/judged_collection.h"

#include "neptune/base/strings.h"

namespace search::tools {

using neptune::StatusOr;

StatusOr<std::unique_ptr<JudgedCollection>> JudgedCollection::Open(
    const std::string& name, const JudgedCollectionPaths& paths) {
  std::unique_ptr<JudgedCollection> collection(new JudgedCollection(name));
  NEPTUNE_ASSIGN_OR_RETURN(collection->queries_, ReadQueries(paths.folder + "/queries.tsv"));
  NEPTUNE_ASSIGN_OR_RETURN(collection->judgments_, ReadJudgments(paths.folder + "/qrels.tsv"));
  for (const JudgedQuery& query : collection->queries_) {
    if (collection->judgments_.contains(query.id)) collection->judged_queries_.push_back(query);
  }
  collection->documents_path_ =
      paths.documents.empty() ? paths.folder + "/docs.jsonl.zst" : paths.documents;
  NEPTUNE_ASSIGN_OR_RETURN(collection->index_,
                           CollectionIndex::Open(collection->documents_path_, paths.index_folder));
  return collection;
}

StatusOr<RankedLists> JudgedCollection::Run(const Setting& setting, size_t depth) {
  return Run(judged_queries_, setting, depth);
}

StatusOr<RankedLists> JudgedCollection::Run(const std::vector<JudgedQuery>& queries,
                                            const Setting& setting, size_t depth) {
  NEPTUNE_RETURN_IF_ERROR(index_->Use(setting));
  RankedLists run;
  for (const JudgedQuery& query : queries) {
    NEPTUNE_ASSIGN_OR_RETURN(run[query.id], index_->Rank(query.text, depth));
  }
  return run;
}

StatusOr<std::string> JudgedCollection::Explain(const Setting& setting, const std::string& query_id,
                                                const std::string& document) {
  NEPTUNE_RETURN_IF_ERROR(index_->Use(setting));
  for (const JudgedQuery& query : queries_) {
    if (query.id != query_id) continue;
    NEPTUNE_ASSIGN_OR_RETURN(const std::string text, index_->Explain(query.text, document));
    return neptune::StrCat(query.text, "\n", text);
  }
  return neptune::NotFound("query '", query_id, "' is not in the collection");
}

}  // namespace search::tools
