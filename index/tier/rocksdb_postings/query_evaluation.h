// Reference evaluation of a query over its postings: document at a time, every document that holds
// any positive word is evaluated, none is skipped.
//
// index/core/query and index/core/search define what matches and what scores.
// Threads: thread-compatible; lives for one search.
// Errors: DATA_LOSS for damage.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "index/core/query/query.h"
#include "index/tier/engine_kit/engine.h"
#include "index/tier/rocksdb_postings/posting_cursor.h"
#include "index/tier/rocksdb_postings/query_postings.h"
#include "neptune/base/status.h"

namespace search::index::rocksdb_postings {

class QueryEvaluation {
 public:
  // Creates a cursor for each distinct word of the query. All arguments must outlive it.
  QueryEvaluation(const EngineQuery& engine_query, const QueryPostings& postings,
                  size_t document_count);

  // Every match, ascending by ordinal. Call it once.
  neptune::StatusOr<Found> Run();

 private:
  struct Node {
    QueryNode::Kind kind = QueryNode::Kind::kNothing;
    bool is_title_only = false;
    bool is_optional = false;
    std::vector<TermPostingCursor*> cursors;  // one, except for kPhrase
    std::vector<uint32_t> positions;          // kPhrase
    std::vector<Node> children;
  };
  Node Bind(const QueryNode& query, bool is_positive);
  TermPostingCursor* OpenCursor(const std::string& term, bool is_positive);
  bool Matches(const Node& node, uint32_t ordinal);
  bool MatchesPhrase(const Node& node, uint32_t ordinal);
  bool MatchesPhraseIn(const Node& node, Field field);
  ScoreUnits Score(uint32_t ordinal) const;
  neptune::Status CheckCursors() const;
  uint32_t NextCandidate() const;

  const EngineQuery engine_query_;
  const QueryPostings& postings_;
  const size_t document_count_;
  std::map<std::string, TermPostingCursor> cursors_;
  std::vector<TermPostingCursor*> positive_;  // their documents are the candidates
  Node root_;                                 // refers to cursors_, so it is built after them
  std::vector<TermPostingCursor*> scoring_;   // cursors of the scoring words
};

}  // namespace search::index::rocksdb_postings
