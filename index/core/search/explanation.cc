#include "index/core/search/explanation.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string_view>
#include <utility>

#include "index/core/query/scoring_words.h"
#include "index/core/search/document_rater.h"
#include "index/core/search/matcher.h"
#include "index/core/search/query_plan.h"
#include "index/core/segment/prefix_terms.h"

namespace search::index {
namespace {

using neptune::StatusOr;

// Adds the terms that the prefix stands for.
neptune::Status AddPrefixTerms(const QueryNode& prefix, const Segment& segment,
                               std::vector<TermExplanation>* terms) {
  const bool title_only = prefix.field == QueryField::kTitle;
  NEPTUNE_ASSIGN_OR_RETURN(const PrefixTerms found,
                           FindPrefixTerms(segment.terms(), prefix.term, prefix.folded));
  for (const PrefixTerm& one : found.terms) {
    auto term = std::find_if(terms->begin(), terms->end(), [&](const TermExplanation& known) {
      return known.term == one.term && known.title_only == title_only;
    });
    if (term == terms->end()) {
      term = terms->insert(term, {.term = one.term, .title_only = title_only, .percent = 0});
    }
    term->occurrences += prefix.occurrences;
    term->percent = std::max(term->percent, prefix.percent);
  }
  return neptune::OkStatus();
}

StatusOr<std::vector<TermExplanation>> ScoringTerms(const Query& query, const Segment& segment) {
  std::vector<TermExplanation> terms;
  for (ScoringWord& word : ScoringWords(query)) {
    TermExplanation& term = terms.emplace_back();
    term.term = std::move(word.term);
    term.title_only = word.title_only;
    term.occurrences = word.occurrences;
    term.percent = word.percent;
  }
  for (const QueryNode* leaf : PositiveLeaves(query)) {
    if (leaf->kind != QueryNode::Kind::kPrefix) continue;
    NEPTUNE_RETURN_IF_ERROR(AddPrefixTerms(*leaf, segment, &terms));
  }
  return terms;
}

// Explains a term that the segment holds; the frequencies stay 0 if the document does not hold it.
void ExplainTerm(const TermEntry& entry, uint32_t ordinal, Evaluation* evaluation,
                 TermExplanation* term) {
  const SearchSpace& space = evaluation->space();
  term->document_frequency = space.statistics.document_frequencies()[entry.ordinal];
  term->idf = InverseDocumentFrequency(space.statistics.document_count(),  //
                                       term->document_frequency);
  PostingCursor* const cursor = evaluation->OpenCursor(entry);
  if (cursor->Seek(ordinal) != ordinal) return;
  term->frequencies[0] = cursor->frequency(Field::kTitle);
  if (!term->title_only) {
    term->frequencies[1] = cursor->frequency(Field::kBody);
    term->frequencies[2] = cursor->frequency(Field::kExtra);
  }
  const uint32_t codes = space.segment.length_codes()[ordinal];
  for (size_t field = 0; field < kFieldCount; ++field) {
    term->weighted_frequency += static_cast<float>(term->frequencies[field]) *
                                space.scorer.Norm(static_cast<Field>(field), codes);
  }
  const Impact impact = space.scorer.ToImpact(term->frequencies, codes);
  term->saturation = static_cast<float>(impact) / kImpactsPerSaturation;
  term->units = space.Weight(entry, term->occurrences, term->percent).Units(impact);
}

StatusOr<uint32_t> OrdinalOf(const Segment& segment, uint64_t doc_id) {
  const auto ordinal = segment.FindDocument(doc_id);
  if (ordinal.has_value()) return *ordinal;
  return neptune::NotFound(segment.name(), ": the segment does not hold document ", doc_id);
}

StatusOr<bool> IsMatch(const Query& query, uint32_t ordinal, Evaluation* evaluation) {
  NEPTUNE_ASSIGN_OR_RETURN(const QueryPlan plan, MakeQueryPlan(query, evaluation->space().segment));
  if (plan.root.kind == PlanNode::Kind::kNothing) return false;
  return MakeMatcher(plan.root, evaluation)->Seek(ordinal) == ordinal;
}

template <typename... Values>
void AppendLine(std::string* text, const char* format, Values... values) {
  char line[256];
  const int size = std::snprintf(line, sizeof(line), format, values...);
  text->append(line, std::min<size_t>(static_cast<size_t>(std::max(size, 0)), sizeof(line) - 1));
}

void AppendTerm(const TermExplanation& term, std::string* text) {
  AppendLine(text, "%10.5f  %s%.64s", static_cast<double>(ToScore(term.units)),
             term.title_only ? "title:" : "", term.term.c_str());
  AppendLine(text, ": %u in query", term.occurrences);
  if (term.percent < 100) AppendLine(text, " * share %.2f", term.percent / 100.0);
  AppendLine(text, " * idf %.4f (in %u documents) * saturation %.4f", term.idf,
             term.document_frequency, static_cast<double>(term.saturation));
  AppendLine(text, " (title %u, body %u, extra %u; weighted %.4f)\n", term.frequencies[0],
             term.frequencies[1], term.frequencies[2],
             static_cast<double>(term.weighted_frequency));
}

}  // namespace

StatusOr<Explanation> ExplainScore(const SearchSpace& space, const Query& query, uint64_t doc_id,
                                   const SecondPhaseWeights& second_phase) {
  NEPTUNE_ASSIGN_OR_RETURN(const uint32_t ordinal, OrdinalOf(space.segment, doc_id));
  const std::function<bool()> never_stop;
  Evaluation evaluation(space, /*live=*/nullptr, never_stop);
  Explanation explanation;
  explanation.doc_id = doc_id;
  NEPTUNE_ASSIGN_OR_RETURN(explanation.matches, IsMatch(query, ordinal, &evaluation));
  const uint32_t codes = space.segment.length_codes()[ordinal];
  for (size_t field = 0; field < kFieldCount; ++field) {
    explanation.lengths[field] = DecodeLength(static_cast<uint8_t>(codes >> (8 * field)));
    explanation.norms[field] = space.scorer.Norm(static_cast<Field>(field), codes);
  }
  explanation.mean_lengths = space.statistics.mean_lengths();
  explanation.static_rank = space.segment.static_ranks()[ordinal];
  explanation.static_rank_units = space.StaticRankUnits(ordinal);
  explanation.score_units = explanation.static_rank_units;
  NEPTUNE_ASSIGN_OR_RETURN(explanation.terms, ScoringTerms(query, space.segment));
  for (TermExplanation& term : explanation.terms) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto entry, space.segment.terms().Find(term.term));
    if (entry.has_value()) ExplainTerm(*entry, ordinal, &evaluation, &term);
    explanation.score_units += term.units;
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto rater,
                           DocumentRater::Create(query, second_phase, &evaluation));
  explanation.gain = rater->Rate(ordinal);
  explanation.lacks_positions = rater->lacks_positions();
  if (evaluation.damaged()) return space.segment.DamagedPostings();
  explanation.score = ToScore(explanation.score_units);
  return explanation;
}

std::string ToText(const Explanation& explanation) {
  std::string text;
  AppendLine(&text, "%10.5f  document %llu%s", static_cast<double>(explanation.score),
             static_cast<unsigned long long>(explanation.doc_id),
             explanation.matches ? "" : " (the query does not find it)");
  AppendLine(
      &text, ", words in title %g of mean %.1f, body %g of %.1f, extra %g of %.1f\n",
      static_cast<double>(explanation.lengths[0]), static_cast<double>(explanation.mean_lengths[0]),
      static_cast<double>(explanation.lengths[1]), static_cast<double>(explanation.mean_lengths[1]),
      static_cast<double>(explanation.lengths[2]),
      static_cast<double>(explanation.mean_lengths[2]));
  AppendLine(&text, "%10.5f  static rank %.5f\n",
             static_cast<double>(ToScore(explanation.static_rank_units)),
             static_cast<double>(explanation.static_rank));
  for (const TermExplanation& term : explanation.terms) AppendTerm(term, &text);
  const Gain& gain = explanation.gain;
  AppendLine(&text, "%+10.5f  second phase, if it rates the document: proximity %.5f, title %.5f, ",
             static_cast<double>(ToScore(gain.units())),
             static_cast<double>(ToScore(gain.proximity)),
             static_cast<double>(ToScore(gain.title)));
  AppendLine(&text, "lead %.5f%s\n", static_cast<double>(ToScore(gain.lead)),
             explanation.lacks_positions ? " (the index has no positions)" : "");
  return text;
}

}  // namespace search::index
