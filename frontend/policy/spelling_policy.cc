#include "frontend/policy/spelling_policy.h"

#include <algorithm>
#include <string>

#include "index/core/analysis/analyzer.h"

namespace search::frontend {
namespace {

using index::ScoringWord;
using index::SpelledWord;

// True if all words of one of the word's synonyms are in documents.
bool HasKnownSynonym(const ScoringWord& word, const std::vector<uint64_t>& counts) {
  return std::any_of(word.synonyms.begin(), word.synonyms.end(), [&](const auto& synonym) {
    return std::all_of(synonym.begin(), synonym.end(),
                       [&](size_t i) { return i < counts.size() && counts[i] > 0; });
  });
}

bool IsDoubtful(const ScoringWord& word, uint64_t count, const std::vector<uint64_t>& counts,
                uint64_t documents_max) {
  if (word.is_synonym || count > documents_max || HasKnownSynonym(word, counts)) return false;
  return count == 0 || word.is_wanted;
}

// Number of documents with the term of a word that is doubtful; -1 if it is not.
int64_t DoubtfulCount(const std::string& term, const std::vector<ScoringWord>& words,
                      const std::vector<uint64_t>& counts, uint64_t documents_max) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].term != term || words[i].is_synonym) continue;
    const bool is_doubtful = IsDoubtful(words[i], counts[i], counts, documents_max);
    return is_doubtful ? static_cast<int64_t>(counts[i]) : -1;
  }
  return -1;
}

}  // namespace

std::vector<uint64_t> WordCounts(const index::TierAnswer& hits, bool has_tier2) {
  std::vector<uint64_t> counts(hits.word_document_counts().begin(),
                               hits.word_document_counts().end());
  if (has_tier2) return counts;
  const int bounded = std::min(hits.other_tier().words_size(), static_cast<int>(counts.size()));
  for (int i = 0; i < bounded; ++i) {
    counts[static_cast<size_t>(i)] += hits.other_tier().words(i).document_count();
  }
  return counts;
}

std::vector<SpelledWord> DoubtfulWords(std::string_view question,
                                       const std::vector<ScoringWord>& words,
                                       const std::vector<uint64_t>& counts,
                                       uint64_t documents_max) {
  if (counts.size() != words.size()) return {};
  bool is_due = false;
  for (size_t i = 0; i < words.size(); ++i) {
    is_due |= IsDoubtful(words[i], counts[i], counts, documents_max);
  }
  if (!is_due) return {};
  index::Analyzer analyzer(index::AnalyzerOptions::ForQueries());
  std::vector<SpelledWord> spelled = index::WordsToSpell(question);
  size_t doubtful_count = 0;
  for (SpelledWord& word : spelled) {
    if (!word.may_change) continue;
    const auto terms = analyzer.AnalyzeWord(word.folded);
    const int64_t count =
        terms.size() == 1 ? DoubtfulCount(terms[0].term, words, counts, documents_max) : -1;
    word.may_change = count >= 0;
    word.is_known = count > 0;
    doubtful_count += word.may_change ? 1 : 0;
  }
  if (doubtful_count == 0 || doubtful_count > kDoubtfulWordsMax) spelled.clear();
  return spelled;
}

bool HasUnknownWord(const std::vector<SpelledWord>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const SpelledWord& word) { return word.may_change && !word.is_known; });
}

SpellingUse UseOfSpelling(const index::SpelledQuery& spelled, const SearchAnswer& answer) {
  if (answer.found_nothing()) return SpellingUse::kReplace;
  return spelled.is_sure && answer.coverage.complete() ? SpellingUse::kReplace
                                                       : SpellingUse::kOffer;
}

}  // namespace search::frontend
