#include "frontend/policy/given_up_words.h"

#include <algorithm>
#include <utility>

#include "frontend/policy/tier_bound.h"
#include "index/core/search/search_result.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using index::ScoringWord;

bool Has(uint64_t bits, size_t i) { return i < index::kLackableWordsMax && (bits >> i & 1) != 0; }

// True if a document with these bits of TierHit::lacks has neither the word nor a synonym of it.
bool IsLacked(const ScoringWord& word, size_t i, uint64_t lacks) {
  const auto lacks_some = [&](const std::vector<size_t>& synonym) {
    return std::any_of(synonym.begin(), synonym.end(), [&](size_t of_synonym) {
      return of_synonym >= index::kLackableWordsMax || Has(lacks, of_synonym);
    });
  };
  return Has(lacks, i) && std::all_of(word.synonyms.begin(), word.synonyms.end(), lacks_some);
}

bool BeginsWord(std::string_view question, size_t at) {
  return at == 0 || static_cast<uint8_t>(question[at - 1]) <= ' ';
}

bool EndsWord(std::string_view question, size_t at) {
  return at == question.size() || static_cast<uint8_t>(question[at]) <= ' ';
}

// True if each document that the question finds holds the word.
bool Demands(const std::string& question, const ScoringWord& wanted) {
  const auto query = index::ParseQuestion(question);
  if (!query.ok()) return false;
  const std::vector<ScoringWord> words = index::ScoringWords(*query);
  const std::vector<bool> demanded = BoundedQueryOf(*query).demanded;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].term == wanted.term && words[i].title_only == wanted.title_only) {
      return demanded[i];
    }
  }
  return false;
}

}  // namespace

void NameGivenUpWords(const std::vector<ScoringWord>& words, SearchAnswer* answer) {
  const size_t word_count = std::min(words.size(), index::kLackableWordsMax);
  std::vector<uint32_t> result_counts(word_count);
  for (SearchResult& result : answer->results) {
    for (size_t word = 0; word < word_count; ++word) {
      if (!words[word].is_wanted || !IsLacked(words[word], word, result.lacked_bits)) continue;
      ++result_counts[word];
      if (result.lacks.size() < kGivenUpWordsMax) result.lacks.push_back(words[word].surface);
    }
  }
  // No question demands a word of running text, and of demands that nothing has none is met.
  if (answer->is_plain || !answer->unmet_demands.empty()) return;
  for (size_t word = 0; word < word_count; ++word) {
    if (result_counts[word] == 0 || answer->given_up.size() == kGivenUpWordsMax) continue;
    std::string demanding = Demanding(answer->searched_query(), words[word]);
    if (demanding.empty()) continue;
    answer->given_up.push_back({.word = words[word].surface,
                                .result_count = result_counts[word],
                                .demanding = std::move(demanding)});
  }
}

std::string Demanding(std::string_view question, const ScoringWord& word) {
  if (word.surface.empty()) return "";
  const std::string plus = neptune::StrCat("+", word.surface);
  size_t at = question.find(word.surface);
  while (at != std::string_view::npos) {
    const size_t end = at + word.surface.size();
    if (BeginsWord(question, at) && EndsWord(question, end)) {
      std::string direct = neptune::StrCat(question.substr(0, at), plus, question.substr(end));
      if (Demands(direct, word)) return direct;
      break;
    }
    at = question.find(word.surface, at + 1);
  }
  std::string around = neptune::StrCat(plus, " (", question, ")");
  return Demands(around, word) ? around : "";
}

}  // namespace search::frontend
