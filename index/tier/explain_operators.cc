#include "index/tier/explain_operators.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "index/core/search/score.h"

namespace search::index {
namespace {

void AddWord(const TermExplanation& term, DocumentExplanation* document) {
  WordExplanation& word = *document->add_words();
  word.set_term(term.term);
  word.set_title_only(term.title_only);
  word.set_occurrences(term.occurrences);
  word.set_percent(term.percent);
  word.set_document_frequency(term.document_frequency);
  word.set_inverse_document_frequency(term.idf);
  for (const uint32_t frequency : term.frequencies) word.add_frequencies(frequency);
  word.set_weighted_frequency(term.weighted_frequency);
  word.set_saturation(term.saturation);
  word.set_score(ToScore(term.units));
}

bool IsBetter(const DocumentExplanation& a, const DocumentExplanation& b) {
  return a.matches() != b.matches() ? a.matches() : a.score() > b.score();
}

}  // namespace

neptune::StatusOr<ExplainAnswer> ExplainOperator(const IndexTier& tier, const ExplainQuery& query) {
  if (query.doc_ids_size() < 1 || query.doc_ids_size() > kExplainedDocumentsMax) {
    return neptune::InvalidArgument("explain: ", query.doc_ids_size(), " documents, not 1 to ",
                                    kExplainedDocumentsMax);
  }
  if (query.query().size() > kTierQuerySizeMax) {
    return neptune::InvalidArgument("explain: query has ", query.query().size(),
                                    " bytes, more than ", kTierQuerySizeMax);
  }
  return tier.Explain(query);
}

ExplainAnswer MergeExplainAnswers(const ExplainAnswer& a, const ExplainAnswer& b) {
  std::map<uint64_t, const DocumentExplanation*> documents;
  std::set<std::string> names;
  for (const ExplainAnswer* answer : {&a, &b}) {
    for (const DocumentExplanation& document : answer->documents()) {
      const DocumentExplanation*& kept = documents[document.doc_id()];
      if (kept == nullptr || IsBetter(document, *kept)) kept = &document;
    }
    names.insert(answer->cannot_explain().begin(), answer->cannot_explain().end());
  }
  ExplainAnswer merged;
  for (const auto& [doc_id, document] : documents) *merged.add_documents() = *document;
  for (const std::string& name : names) merged.add_cannot_explain(name);
  merged.set_index_version(std::min(a.index_version(), b.index_version()));
  return merged;
}

DocumentExplanation ToMessage(const Explanation& explanation) {
  DocumentExplanation document;
  document.set_doc_id(explanation.doc_id);
  document.set_matches(explanation.matches);
  for (size_t i = 0; i < kFieldCount; ++i) {
    FieldExplanation& field = *document.add_fields();
    field.set_length(explanation.lengths[i]);
    field.set_mean_length(explanation.mean_lengths[i]);
    field.set_weight(explanation.norms[i]);
  }
  document.set_static_rank(explanation.static_rank);
  document.set_static_rank_score(ToScore(explanation.static_rank_units));
  for (const TermExplanation& term : explanation.terms) AddWord(term, &document);
  document.set_score(explanation.score);
  document.set_proximity(ToScore(explanation.gain.proximity));
  document.set_title(ToScore(explanation.gain.title));
  document.set_lead(ToScore(explanation.gain.lead));
  document.set_lacks_positions(explanation.lacks_positions);
  return document;
}

}  // namespace search::index
