#include "index/tier/rocksdb_postings/query_evaluation.h"

#include <algorithm>

namespace search::index::rocksdb_postings {

QueryEvaluation::Node QueryEvaluation::Bind(const QueryNode& query, bool is_positive) {
  Node node;
  node.kind = query.kind;
  node.is_title_only = query.field == QueryField::kTitle;
  for (const PhraseTerm& term : query.phrase) node.positions.push_back(term.position);
  for (const std::string& term : TermsOfLeaf(query)) {
    TermPostingCursor* const cursor = OpenCursor(term, is_positive);
    node.cursors.push_back(cursor);
    if (is_positive && query.kind != QueryNode::Kind::kSite) {
      AddScoring(cursor, node.is_title_only, query.occurrences);
    }
  }
  const bool is_not = query.kind == QueryNode::Kind::kNot;
  for (const QueryNode& child : query.children) {
    node.children.push_back(Bind(child, is_positive && !is_not));
  }
  return node;
}

TermPostingCursor* QueryEvaluation::OpenCursor(const std::string& term, bool is_positive) {
  TermPostingCursor* const cursor =
      &cursors_.try_emplace(term, space_.postings.Of(term)).first->second;
  const bool is_known = std::find(positive_.begin(), positive_.end(), cursor) != positive_.end();
  if (is_positive && !is_known) positive_.push_back(cursor);
  return cursor;
}

void QueryEvaluation::AddScoring(TermPostingCursor* cursor, bool is_title_only,
                                 uint32_t occurrences) {
  for (Scoring& known : scoring_) {
    if (known.cursor != cursor || known.is_title_only != is_title_only) continue;
    known.weight.AddOccurrences(occurrences);
    return;
  }
  scoring_.push_back(
      {cursor, is_title_only,
       TermWeight(space_.collection_document_count, cursor->document_frequency(), occurrences)});
}

bool QueryEvaluation::Matches(const Node& node, uint32_t ordinal) {
  const auto child_matches = [&](const Node& child) { return Matches(child, ordinal); };
  switch (node.kind) {
    case QueryNode::Kind::kNothing:
      return false;
    case QueryNode::Kind::kTerm:
    case QueryNode::Kind::kSite:
      return node.cursors[0]->ordinal() == ordinal &&
             (!node.is_title_only || node.cursors[0]->posting().frequencies[0] > 0);
    case QueryNode::Kind::kPhrase:
      return MatchesPhrase(node, ordinal);
    case QueryNode::Kind::kAnd:
      return std::all_of(node.children.begin(), node.children.end(), child_matches);
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

// Whether some place of the first word has each other word at its distance.
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

float QueryEvaluation::Score(uint32_t ordinal) const {
  const DocumentRecord& document = space_.documents[ordinal];
  ScoreUnits units = space_.scorer.StaticRankUnits(document.static_rank);
  for (const Scoring& scoring : scoring_) {
    if (scoring.cursor->ordinal() != ordinal) continue;
    std::array<uint32_t, kFieldCount> frequencies = scoring.cursor->posting().frequencies;
    if (scoring.is_title_only) frequencies = {frequencies[0], 0, 0};
    units += scoring.weight.Units(space_.scorer.ToImpact(frequencies, document.length_codes));
  }
  return ToScore(units);
}

uint32_t QueryEvaluation::NextCandidate() const {
  uint32_t candidate = kNoDocument;
  for (const TermPostingCursor* cursor : positive_) {
    candidate = std::min(candidate, cursor->ordinal());
  }
  return candidate;
}

neptune::StatusOr<Evaluated> QueryEvaluation::Run(const std::function<bool()>& stop) {
  Evaluated evaluated;
  uint32_t looked_at_count = 0;
  while (true) {
    if (stop && looked_at_count++ % kStopInterval == 0 && stop()) {
      evaluated.is_complete = false;
      break;
    }
    const uint32_t candidate = NextCandidate();
    if (candidate == kNoDocument) break;
    if (candidate >= space_.documents.size()) {
      return neptune::DataLoss(space_.postings.directory(), ": posting of no document");
    }
    for (auto& [term, cursor] : cursors_) cursor.Seek(candidate);
    if (Matches(root_, candidate)) evaluated.matches.push_back({Score(candidate), candidate});
    for (TermPostingCursor* cursor : positive_) cursor->Seek(candidate + 1);
  }
  for (const auto& [term, cursor] : cursors_) {
    if (cursor.damaged()) {
      return neptune::DataLoss(space_.postings.directory(), ": postings of '", term,
                               "' are damaged");
    }
  }
  return evaluated;
}

}  // namespace search::index::rocksdb_postings
