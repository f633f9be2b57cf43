#include "index/tier/rocksdb_postings/place_rating.h"

#include <utility>

#include "index/core/query/scoring_words.h"
#include "index/core/segment/length_code.h"

namespace search::index::rocksdb_postings {
namespace {

using neptune::StatusOr;

struct Word {
  TermPostingCursor cursor;
  bool is_title_only = false;
};

std::vector<Word> OpenWords(const Query& query, const QueryPostings& postings) {
  std::vector<Word> words;
  for (const ScoringWord& scoring : ScoringWords(query)) {
    if (words.size() == kSecondPhaseWordsMax) break;
    words.push_back({TermPostingCursor(postings.Of(scoring.term)), scoring.title_only});
  }
  return words;
}

SecondPhase PhaseFor(const std::vector<Word>& words, const SearchSpace& space) {
  std::vector<double> idfs;
  for (const Word& word : words) {
    idfs.push_back(InverseDocumentFrequency(space.collection_document_count,
                                            word.cursor.document_frequency()));
  }
  return SecondPhase(SecondPhaseWeights(), space.scorer.k1(), std::move(idfs));
}

WordPlaces PlacesIn(uint32_t ordinal, Word& word) {
  WordPlaces places;
  word.cursor.Seek(ordinal);
  if (word.cursor.ordinal() != ordinal) return places;
  for (size_t field = 0; field < (word.is_title_only ? 1 : kFieldCount); ++field) {
    places.frequencies[field] = word.cursor.posting().frequencies[field];
    word.cursor.Positions(static_cast<Field>(field), &places.positions[field]);
  }
  return places;
}

DocumentShape ShapeOf(const DocumentRecord& document, const Scorer& scorer) {
  DocumentShape shape;
  for (size_t field = 0; field < kFieldCount; ++field) {
    shape.norms[field] = scorer.Norm(static_cast<Field>(field), document.length_codes);
  }
  shape.title_length = DecodeLength(static_cast<uint8_t>(document.length_codes));
  return shape;
}

}  // namespace

StatusOr<std::optional<std::vector<Gain>>> RatePlaces(const Query& query, const SearchSpace& space,
                                                      const std::vector<uint32_t>& ordinals,
                                                      const std::function<bool()>& stop) {
  std::vector<Word> words = OpenWords(query, space.postings);
  const SecondPhase phase = PhaseFor(words, space);
  std::vector<Gain> gains;
  for (const uint32_t ordinal : ordinals) {
    if (stop && stop()) return std::optional<std::vector<Gain>>();
    std::vector<WordPlaces> places;
    for (Word& word : words) places.push_back(PlacesIn(ordinal, word));
    gains.push_back(phase.Rate(places, ShapeOf(space.documents[ordinal], space.scorer)));
  }
  for (const Word& word : words) {
    if (!word.cursor.damaged()) continue;
    return neptune::DataLoss(space.postings.directory(), ": postings are damaged");
  }
  return std::optional(std::move(gains));
}

}  // namespace search::index::rocksdb_postings
