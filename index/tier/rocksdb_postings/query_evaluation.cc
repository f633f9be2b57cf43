#include "index/tier/rocksdb_postings/query_evaluation.h"

#include <algorithm>

#include "index/tier/engine_kit/stop_check.h"

namespace search::index::rocksdb_postings {

QueryEvaluation::QueryEvaluation(const EngineQuery& engine_query, const QueryPostings& postings,
                                 size_t document_count)
    : engine_query_(engine_query),
      postings_(postings),
      document_count_(document_count),
      root_(Bind(engine_query.query.root, true)) {
  for (const ScoringWord& word : engine_query.score.words()) {
    scoring_.push_back(&cursors_.at(word.term));
  }
}

QueryEvaluation::Node QueryEvaluation::Bind(const QueryNode& query, bool is_positive) {
  Node node;
  node.kind = query.kind;
  node.is_title_only = query.field == QueryField::kTitle;
  node.is_optional = query.is_optional;
  for (const PhraseTerm& term : query.phrase) node.positions.push_back(term.position);
  for (const std::string& term : TermsOfLeaf(query)) {
    node.cursors.push_back(OpenCursor(term, is_positive));
  }
  const bool is_not = query.kind == QueryNode::Kind::kNot;
  for (const QueryNode& child : query.children) {
    node.children.push_back(Bind(child, is_positive && !is_not));
  }
  return node;
}

TermPostingCursor* QueryEvaluation::OpenCursor(const std::string& term, bool is_positive) {
  TermPostingCursor* const cursor = &cursors_.try_emplace(term, postings_.Of(term)).first->second;
  const bool is_known = std::find(positive_.begin(), positive_.end(), cursor) != positive_.end();
  if (is_positive && !is_known) positive_.push_back(cursor);
  return cursor;
}

bool QueryEvaluation::Matches(const Node& node, uint32_t ordinal) {
  const auto child_matches = [&](const Node& child) { return Matches(child, ordinal); };
  switch (node.kind) {
    case QueryNode::Kind::kPrefix:  // these are refused by SearchWithinRead
    case QueryNode::Kind::kNear:
    case QueryNode::Kind::kField:
    case QueryNode::Kind::kNothing:
      return false;
    case QueryNode::Kind::kTerm:
    case QueryNode::Kind::kSite:
      return node.cursors[0]->ordinal() == ordinal &&
             (!node.is_title_only || node.cursors[0]->posting().frequencies[0] > 0);
    case QueryNode::Kind::kPhrase:
      return MatchesPhrase(node, ordinal);
    case QueryNode::Kind::kAnd:
      return std::all_of(node.children.begin(), node.children.end(), [&](const Node& child) {
        return child.is_optional || child_matches(child);
      });
    case QueryNode::Kind::kOr:
      return std::any_of(node.children.begin(), node.children.end(), child_matches);
    case QueryNode::Kind::kNot:
      return !Matches(node.children[0], ordinal);
  }
  return false;
}

bool QueryEvaluation::MatchesPhrase(const Node& node, uint32_t ordinal) {
  for (const TermPostingCursor* cursor : node.cursors) {
    if (cursor->ordinal() != ordinal) return false;
  }
  if (MatchesPhraseIn(node, Field::kTitle)) return true;
  return !node.is_title_only &&
         (MatchesPhraseIn(node, Field::kBody) || MatchesPhraseIn(node, Field::kExtra));
}

// True if for some position of the first word each other word is at its distance.
bool QueryEvaluation::MatchesPhraseIn(const Node& node, Field field) {
  std::vector<std::vector<uint32_t>> positions(node.cursors.size());
  for (size_t i = 0; i < node.cursors.size(); ++i) {
    node.cursors[i]->Positions(field, &positions[i]);
    if (positions[i].empty()) return false;
  }
  return std::any_of(positions[0].begin(), positions[0].end(), [&](uint32_t first) {
    for (size_t i = 1; i < positions.size(); ++i) {
      const uint64_t wanted = uint64_t{first} + node.positions[i] - node.positions[0];
      if (!std::binary_search(positions[i].begin(), positions[i].end(), wanted)) return false;
    }
    return true;
  });
}

ScoreUnits QueryEvaluation::Score(uint32_t ordinal) const {
  return engine_query_.score.Of(ordinal, [&](size_t word, size_t field) -> uint32_t {
    const TermPostingCursor& cursor = *scoring_[word];
    return cursor.ordinal() == ordinal ? cursor.posting().frequencies[field] : 0;
  });
}

uint32_t QueryEvaluation::NextCandidate() const {
  uint32_t candidate = kNoDocument;
  for (const TermPostingCursor* cursor : positive_) {
    candidate = std::min(candidate, cursor->ordinal());
  }
  return candidate;
}

neptune::StatusOr<Found> QueryEvaluation::Run() {
  Found found;
  StopCheck stop(engine_query_.stop);
  while (!stop.Stops()) {
    const uint32_t candidate = NextCandidate();
    if (candidate == kNoDocument) break;
    if (candidate >= document_count_) {
      return neptune::DataLoss(postings_.directory(),
                               ": posting outside the partition's documents");
    }
    for (auto& [term, cursor] : cursors_) cursor.Seek(candidate);
    if (Matches(root_, candidate)) found.matches.push_back({Score(candidate), candidate});
    for (TermPostingCursor* cursor : positive_) cursor->Seek(candidate + 1);
  }
  found.total_min = found.total_max = found.matches.size();
  found.is_complete = !stop.stopped();
  NEPTUNE_RETURN_IF_ERROR(CheckCursors());
  return found;
}

neptune::Status QueryEvaluation::CheckCursors() const {
  for (const auto& [term, cursor] : cursors_) {
    if (!cursor.damaged()) continue;
    return neptune::DataLoss(postings_.directory(), ": postings of '", term, "' are damaged");
  }
  return neptune::OkStatus();
}

}  // namespace search::index::rocksdb_postings
