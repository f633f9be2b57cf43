// Evaluates a query over its postings the obvious way: document at a time, every document
// that holds any positive word is looked at, nothing is skipped.
//
// Source: none. What matches and what scores is defined in index/core/query and index/core/search.
// Layer: index/tier/rocksdb_postings. Threads: thread-compatible; lives for one search.
// Errors: DATA_LOSS damage.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/search/score.h"
#include "index/tier/engine_kit/records.h"
#include "index/tier/rocksdb_postings/posting_cursor.h"
#include "index/tier/rocksdb_postings/query_postings.h"
#include "neptune/base/status.h"

namespace search::index::rocksdb_postings {

// What a search reads; all outlive it.
struct SearchSpace {
  const QueryPostings& postings;
  const std::vector<DocumentRecord>& documents;
  const Scorer& scorer;
  uint64_t collection_document_count;
};

struct Match {
  float score = 0;
  uint32_t ordinal = 0;
};

struct Evaluated {
  std::vector<Match> matches;  // every match, ascending by ordinal
  bool is_complete = true;
};

class QueryEvaluation {
 public:
  // With a cursor for each different word of the query.
  QueryEvaluation(const Query& query, const SearchSpace& space)
      : space_(space), root_(Bind(query.root, true)) {}

  // `stop` is asked every kStopInterval documents; may be empty. To be called once.
  neptune::StatusOr<Evaluated> Run(const std::function<bool()>& stop);

 private:
  static constexpr uint32_t kStopInterval = 256;

  struct Node {
    QueryNode::Kind kind = QueryNode::Kind::kNothing;
    bool is_title_only = false;
    std::vector<TermPostingCursor*> cursors;  // one, but for kPhrase
    std::vector<uint32_t> positions;          // kPhrase
    std::vector<Node> children;
  };
  // A word that adds to the score of every match that holds it.
  struct Scoring {
    TermPostingCursor* cursor = nullptr;
    bool is_title_only = false;
    TermWeight weight;
  };

  Node Bind(const QueryNode& query, bool is_positive);
  TermPostingCursor* OpenCursor(const std::string& term, bool is_positive);
  void AddScoring(TermPostingCursor* cursor, bool is_title_only, uint32_t occurrences);
  bool Matches(const Node& node, uint32_t ordinal);
  bool MatchesPhrase(const Node& node, uint32_t ordinal);
  bool MatchesPhraseIn(const Node& node, Field field);
  float Score(uint32_t ordinal) const;
  uint32_t NextCandidate() const;

  const SearchSpace space_;
  std::map<std::string, TermPostingCursor> cursors_;
  std::vector<TermPostingCursor*> positive_;  // their documents are the candidates
  std::vector<Scoring> scoring_;
  Node root_;  // of cursors_, and so made last
};

}  // namespace search::index::rocksdb_postings
