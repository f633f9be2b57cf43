// What is asked for the text in a search box, and what becomes of the answers.
//
// No I/O, no clock.
// Threads: pure functions.
// Limits: kTypedPartsMax ends of the text are completed, of at most kTypedWordsMax words.

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
// Suggestions of one answer.
inline constexpr size_t kSuggestionCount = 8;

// An end of the typed text that may be the beginning of a phrase.
struct TypedPart {
  std::string lead;    // what stands before it, as typed
  std::string prefix;  // its words, folded

  bool operator==(const TypedPart&) const = default;
};

// The ends of the text that may be completed, longest first. None of a text without words, or that ends
// with a sign. Words that signs or operators of the query language join are not taken for a phrase.
std::vector<TypedPart> PartsToComplete(std::string_view typed);

index::SuggestQuery MakeSuggestQuery(const std::vector<TypedPart>& parts);

// A whole query that may be suggested.
struct Candidate {
  std::string text;
  std::string canonical;
  // Whether it certainly finds something: it is what an index partition proposed and nothing else.
  bool is_certain = false;

  bool operator==(const Candidate&) const = default;
};

// The whole queries that the suggestions make of the typed text, best first; of those that mean the same
// the first, and none that means what has been typed.
std::vector<Candidate> MakeCandidates(std::string_view typed, const std::vector<TypedPart>& parts,
                                      const index::SuggestAnswer& answer);

}  // namespace search::frontend
