#include "frontend/policy/explained_scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using index::DocumentExplanation;
using index::ScoringWord;
using neptune::StrCat;

// Half a unit of the fourth decimal, to which the sum of the parts is that of the result.
constexpr double kScoreTolerance = 0.00005;

ExplainedWord WordOf(const index::WordExplanation& explained,
                     const std::vector<ScoringWord>& words) {
  ExplainedWord word{.term = explained.term(),
                     .title_only = explained.title_only(),
                     .occurrences = explained.occurrences(),
                     .share = explained.percent() / 100.0,
                     .document_count = explained.document_frequency(),
                     .weight = explained.inverse_document_frequency(),
                     .weighted_frequency = explained.weighted_frequency(),
                     .saturation = explained.saturation(),
                     .score = explained.score()};
  const auto typed = std::find_if(words.begin(), words.end(), [&](const ScoringWord& one) {
    return one.term == word.term && one.title_only == word.title_only;
  });
  if (typed != words.end()) word.word = typed->surface;
  const auto count = std::min<size_t>(word.frequencies.size(), explained.frequencies_size());
  std::copy_n(explained.frequencies().begin(), count, word.frequencies.begin());
  return word;
}

ScoreExplanation ExplanationOf(const DocumentExplanation& explained,
                               const std::vector<ScoringWord>& words, const SearchResult& result) {
  ScoreExplanation explanation{.static_rank = explained.static_rank(),
                               .static_rank_score = explained.static_rank_score(),
                               .first_score = explained.score(),
                               .is_rated = result.gain > 0,
                               .proximity = explained.proximity(),
                               .title = explained.title(),
                               .lead = explained.lead(),
                               .lacks_positions = explained.lacks_positions()};
  for (int i = 0; i < std::min<int>(explained.fields_size(), kExplainedFieldCount); ++i) {
    const index::FieldExplanation& field = explained.fields(i);
    explanation.fields[static_cast<size_t>(i)] = {field.length(), field.mean_length(),
                                                  field.weight()};
  }
  explanation.score = explanation.static_rank_score;
  for (const index::WordExplanation& word : explained.words()) {
    explanation.words.push_back(WordOf(word, words));
    explanation.score += word.score();
  }
  if (explanation.is_rated) {
    explanation.score += explanation.proximity + explanation.title + explanation.lead;
  }
  explanation.is_current =
      explained.matches() && std::abs(explanation.score - result.score) < kScoreTolerance;
  return explanation;
}

std::string NoteOf(const index::ExplainAnswer& explained, bool is_complete, size_t missing_count) {
  if (missing_count == 0) return "";
  std::string note =
      StrCat(missing_count, missing_count == 1 ? " result is" : " results are", " not explained: ");
  if (explained.cannot_explain_size() > 0) {
    return StrCat(note, "the index engine ", explained.cannot_explain(0),
                  " does not explain scores.");
  }
  return StrCat(note, is_complete ? "documents changed after the search."
                                  : "parts of the index did not answer in time.");
}

}  // namespace

void AdoptExplanations(const index::ExplainAnswer& explained, bool is_complete,
                       const std::vector<ScoringWord>& words, SearchAnswer* answer) {
  std::map<std::string, const DocumentExplanation*> documents;
  for (const DocumentExplanation& document : explained.documents()) {
    documents[StrCat(document.doc_id())] = &document;
  }
  size_t missing_count = 0;
  for (SearchResult& result : answer->results) {
    const auto document = documents.find(result.doc_id);
    if (document == documents.end()) {
      ++missing_count;
      continue;
    }
    result.explanation = ExplanationOf(*document->second, words, result);
  }
  answer->explanation_note = NoteOf(explained, is_complete, missing_count);
}

}  // namespace search::frontend
