#include "index/core/segment/prefix_terms.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace search::index {
namespace {

bool IsMoreFrequent(const PrefixTerm& a, const PrefixTerm& b) {
  if (a.entry.document_frequency != b.entry.document_frequency) {
    return a.entry.document_frequency > b.entry.document_frequency;
  }
  return a.term < b.term;
}

void KeepMostFrequent(std::vector<PrefixTerm>* terms) {
  const auto end = terms->begin() + static_cast<ptrdiff_t>(kPrefixTermsMax);
  std::nth_element(terms->begin(), end, terms->end(), IsMoreFrequent);
  terms->erase(end, terms->end());
}

}  // namespace

neptune::StatusOr<PrefixTerms> FindPrefixTerms(const TermDictionary& dictionary,
                                               std::string_view prefix, std::string_view word) {
  PrefixTerms found;
  NEPTUNE_ASSIGN_OR_RETURN(TermCursor cursor, dictionary.CursorBefore(prefix));
  size_t read = 0;
  while (cursor.Next()) {
    if (cursor.key() < prefix) continue;
    if (!cursor.key().starts_with(prefix)) break;
    if (++read > kPrefixKeysMax) break;
    found.terms.push_back({std::string(cursor.key()), cursor.entry()});
    // Bounds the memory, and the cost to a constant for each term.
    if (found.terms.size() == 2 * kPrefixTermsMax) KeepMostFrequent(&found.terms);
  }
  NEPTUNE_RETURN_IF_ERROR(cursor.status());
  found.is_cut = read > kPrefixTermsMax;
  if (found.terms.size() > kPrefixTermsMax) KeepMostFrequent(&found.terms);
  if (!word.empty() && !word.starts_with(prefix)) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto entry, dictionary.Find(word));
    if (entry.has_value()) found.terms.push_back({std::string(word), *entry});
  }
  std::sort(found.terms.begin(), found.terms.end(),
            [](const PrefixTerm& a, const PrefixTerm& b) { return a.term < b.term; });
  return found;
}

}  // namespace search::index
