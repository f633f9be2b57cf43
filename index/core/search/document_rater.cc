#include "index/core/search/document_rater.h"

#include <algorithm>
#include <utility>

#include "index/core/query/scoring_words.h"
#include "index/core/search/score.h"
#include "index/core/search/search_result.h"

namespace search::index {
namespace {

// Work of seeking a word in a document, in postings.
constexpr uint32_t kSeekWork = 32;

}  // namespace

neptune::StatusOr<std::unique_ptr<DocumentRater>> DocumentRater::Create(
    const Query& query, const SecondPhaseWeights& weights, Evaluation* evaluation) {
  const SearchSpace& space = evaluation->space();
  std::vector<Word> words;
  std::vector<double> idfs;
  for (const ScoringWord& scoring : ScoringWords(query)) {
    if (words.size() == kSecondPhaseWordsMax) break;
    Word& word = words.emplace_back();
    double& idf = idfs.emplace_back(0);
    NEPTUNE_ASSIGN_OR_RETURN(const auto entry, space.segment.terms().Find(scoring.term));
    if (!entry.has_value()) continue;
    word = {evaluation->OpenCursor(*entry), space.impacts.FindDocuments(*entry),
            scoring.title_only};
    idf = InverseDocumentFrequency(space.statistics.document_count(),
                                   space.statistics.document_frequencies()[entry->ordinal]);
  }
  return std::unique_ptr<DocumentRater>(new DocumentRater(
      std::move(words), SecondPhase(weights, space.scorer.k1(), std::move(idfs)), evaluation));
}

DocumentRater::DocumentRater(std::vector<Word> words, SecondPhase phase, Evaluation* evaluation)
    : words_(std::move(words)),
      phase_(std::move(phase)),
      evaluation_(evaluation),
      reads_positions_(phase_.needs_positions() && evaluation->space().segment.has_positions()),
      lacks_positions_(phase_.needs_positions() && !reads_positions_),
      places_(words_.size()) {}

Gain DocumentRater::Rate(uint32_t ordinal) {
  const SearchSpace& space = evaluation_->space();
  lacks_ = 0;
  for (size_t i = 0; i < words_.size(); ++i) {
    ReadPlaces(words_[i], ordinal, &places_[i]);
    if (i < kLackableWordsMax && !places_[i].occurs()) lacks_ |= uint64_t{1} << i;
  }
  const uint32_t codes = space.segment.length_codes()[ordinal];
  DocumentShape shape;
  for (size_t field = 0; field < kFieldCount; ++field) {
    shape.norms[field] = space.scorer.Norm(static_cast<Field>(field), codes);
  }
  shape.title_length = DecodeLength(static_cast<uint8_t>(codes));
  return phase_.Rate(places_, shape);
}

void DocumentRater::ReadPlaces(const Word& word, uint32_t ordinal, WordPlaces* places) {
  places->frequencies = {};
  for (std::vector<uint32_t>& positions : places->positions) positions.clear();
  evaluation_->ShouldStop(kSeekWork);
  if (word.cursor == nullptr) return;
  if (word.bitmap != nullptr && !HoldsDocument(word.bitmap, ordinal)) return;
  if (word.cursor->Seek(ordinal) != ordinal) return;
  for (size_t i = 0; i < (word.title_only ? 1 : kFieldCount); ++i) {
    const auto field = static_cast<Field>(i);
    places->frequencies[i] = word.cursor->frequency(field);
    if (!reads_positions_ || places->frequencies[i] == 0) continue;
    word.cursor->DecodePositions(field, &places->positions[i]);
    evaluation_->ShouldStop(places->frequencies[i]);
  }
}

}  // namespace search::index
