// Decisions of completion: which parts of the typed text are completed, and which queries are
// suggested.
//
// No I/O, no clock.
// Threads: pure functions.
// Limits: kTypedPartsMax suffixes of the text are completed, each of at most kTypedWordsMax words.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/tier/suggest.pb.h"

namespace search::frontend {

inline constexpr size_t kTypedPartsMax = 4;
inline constexpr size_t kTypedWordsMax = 32;
// Maximum number of suggestions in one answer.
inline constexpr size_t kSuggestionCount = 8;

// A suffix of the typed text that may be the beginning of a phrase.
struct TypedPart {
  std::string lead;    // the text before it, as typed
  std::string prefix;  // its words, folded

  bool operator==(const TypedPart&) const = default;
};

// The suffixes of the text that may be completed, longest first. None if the text has no words or
// ends with punctuation. A phrase never spans punctuation or operators of the query language.
std::vector<TypedPart> PartsToComplete(std::string_view typed);

index::SuggestQuery MakeSuggestQuery(const std::vector<TypedPart>& parts);

// A complete query that may be suggested.
struct Candidate {
  std::string text;
  std::string canonical;
  // True if the query certainly matches a document: an index partition proposed it as a whole.
  bool is_certain = false;

  bool operator==(const Candidate&) const = default;
};

// The complete queries that the suggestions make of the typed text, best first. Of queries that
// mean the same only the first is returned, and none that means the same as the typed text.
std::vector<Candidate> MakeCandidates(std::string_view typed, const std::vector<TypedPart>& parts,
                                      const index::SuggestAnswer& answer);

}  // namespace search::frontend
