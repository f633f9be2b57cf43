#include "index/tier/rocksdb_postings/query_postings.h"

#include <utility>

#include "index/core/segment/segment_reader.h"
#include "index/tier/engine_kit/engine_tables.h"
#include "index/tier/rocksdb_postings/keys.h"

namespace search::index::rocksdb_postings {

std::vector<std::string> TermsOfLeaf(const QueryNode& node) {
  std::vector<std::string> terms;
  if (node.kind == QueryNode::Kind::kTerm) terms.push_back(node.term);
  if (node.kind == QueryNode::Kind::kSite) terms.push_back(Segment::SiteKey(node.term));
  for (const PhraseTerm& term : node.phrase) terms.push_back(term.term);
  return terms;
}

neptune::StatusOr<QueryPostings> QueryPostings::Read(const PostingDatabase& database,
                                                     const Query& query) {
  QueryPostings postings(database.directory());
  NEPTUNE_RETURN_IF_ERROR(postings.ReadBelow(database, query.root));
  return postings;
}

neptune::Status QueryPostings::ReadBelow(const PostingDatabase& database, const QueryNode& node) {
  for (const std::string& term : TermsOfLeaf(node)) {
    NEPTUNE_RETURN_IF_ERROR(ReadTerm(database, term));
  }
  for (const QueryNode& child : node.children) {
    NEPTUNE_RETURN_IF_ERROR(ReadBelow(database, child));
  }
  return neptune::OkStatus();
}

neptune::Status QueryPostings::ReadTerm(const PostingDatabase& database, const std::string& term) {
  const auto [at, is_new] = terms_.try_emplace(term);
  if (!is_new || term.empty() || term.size() > kTermKeySizeMax) return neptune::OkStatus();
  TermPostings& postings = at->second;
  NEPTUNE_RETURN_IF_ERROR(database.ForEach(TermKey('t', term), [&](std::string_view,
                                                                   std::string_view chunk) {
    size_ += chunk.size();
    if (size_ > kQueryPostingsSizeMax) {
      return neptune::ResourceExhausted("search: postings of '", term, "' exceed the size limit");
    }
    postings.chunks.emplace_back(chunk);
    return neptune::OkStatus();
  }));
  if (postings.chunks.empty()) return neptune::OkStatus();
  NEPTUNE_ASSIGN_OR_RETURN(const auto bytes, database.Get(FrequencyKey(term)));
  const auto frequency = ReadRecord<uint32_t>(bytes.value_or(""));
  if (!frequency) {
    return neptune::DataLoss(database.directory(), ": no statistics of '", term, "'");
  }
  postings.document_frequency = *frequency;
  return neptune::OkStatus();
}

}  // namespace search::index::rocksdb_postings
