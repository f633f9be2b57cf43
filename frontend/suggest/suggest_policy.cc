#include "frontend/suggest/suggest_policy.h"

#include <algorithm>
#include <set>
#include <span>

#include "index/core/query/query.h"
#include "index/suggest/phrase_text.h"
#include "index/tier/suggest_operators.h"

namespace search::frontend {
namespace {

constexpr size_t kPrefixSizeMax = 200;
constexpr std::string_view kBlanks = " \t\r\n";

bool IsBlankOnly(std::string_view text) {
  return text.find_first_not_of(kBlanks) == std::string_view::npos;
}

// True if a phrase may begin at this byte: after a space or opening punctuation.
bool MayBegin(std::string_view typed, size_t at) {
  return at == 0 || kBlanks.find(typed[at - 1]) != std::string_view::npos || typed[at - 1] == '"' ||
         typed[at - 1] == '(';
}

bool IsOperator(std::string_view word) { return word == "AND" || word == "OR" || word == "NOT"; }

// True if the text between two words may occur within a phrase.
bool Joins(std::string_view gap) {
  return IsBlankOnly(gap) || (gap.find_first_of(kBlanks) == std::string_view::npos &&
                              gap.find_first_of("\"()") == std::string_view::npos);
}

std::string CanonicalOf(std::string_view text) {
  const auto query = index::ParseQuery(text);
  return query.ok() ? index::Canonical(*query) : std::string();
}

}  // namespace

std::vector<TypedPart> PartsToComplete(std::string_view typed) {
  const std::vector<index::FoldedWord> words = index::FoldWords(typed, kTypedWordsMax + 1);
  if (words.empty() || words.size() > kTypedWordsMax) return {};
  const std::string_view rest = typed.substr(words.back().end_byte);
  if (!IsBlankOnly(rest)) return {};
  std::vector<TypedPart> parts;
  for (size_t i = words.size(); i-- > 0;) {
    const size_t begin = words[i].begin_byte;
    if (IsOperator(typed.substr(begin, words[i].end_byte - begin))) break;
    std::string prefix = index::PhraseKey(std::span(words).subspan(i));
    if (!rest.empty()) prefix += ' ';
    if (prefix.size() > kPrefixSizeMax) break;
    if (MayBegin(typed, begin)) {
      parts.push_back({std::string(typed.substr(0, begin)), std::move(prefix)});
    }
    if (i > 0 && !Joins(typed.substr(words[i - 1].end_byte, begin - words[i - 1].end_byte))) break;
  }
  std::reverse(parts.begin(), parts.end());
  // Keep the whole text and the shortest suffixes.
  if (parts.size() > kTypedPartsMax) {
    parts.erase(parts.begin() + 1, parts.end() - (kTypedPartsMax - 1));
  }
  return parts;
}

index::SuggestQuery MakeSuggestQuery(const std::vector<TypedPart>& parts) {
  static_assert(kTypedPartsMax <= index::kSuggestPrefixesMax);
  index::SuggestQuery query;
  for (const TypedPart& part : parts) query.add_prefixes(part.prefix);
  // Ask for more than needed: some suggestions are duplicates, some match nothing.
  query.set_count_max(3 * kSuggestionCount);
  return query;
}

std::vector<Candidate> MakeCandidates(std::string_view typed, const std::vector<TypedPart>& parts,
                                      const index::SuggestAnswer& answer) {
  std::vector<Candidate> candidates;
  std::set<std::string> seen = {CanonicalOf(typed), std::string()};
  for (const index::Suggestion& suggestion : answer.suggestions()) {
    if (suggestion.prefix_index() >= parts.size()) continue;
    const std::string& lead = parts[suggestion.prefix_index()].lead;
    Candidate candidate;
    candidate.is_certain = IsBlankOnly(lead);
    candidate.text = candidate.is_certain ? suggestion.text() : lead + suggestion.text();
    candidate.canonical = CanonicalOf(candidate.text);
    if (seen.insert(candidate.canonical).second) candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace search::frontend
