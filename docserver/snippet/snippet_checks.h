// Checks the guarantees of snippet.h; for tests and the fuzz target.

#pragma once

#include <string>
#include <string_view>

#include "docserver/snippet/snippet.h"

namespace search::docserver {

// Returns the first violated guarantee, or an empty string: size, valid UTF-8, no empty pieces and
// no equal neighbours, every passage between separators occurs in the text, in order.
std::string BrokenPromise(std::string_view text, const SnippetOptions& options,
                          const google::protobuf::RepeatedPtrField<SnippetPiece>& pieces);

// The same of FindMatches: as many begins as sizes, ascending and disjoint ranges of the text.
std::string BrokenPromise(std::string_view text, const TextRanges& ranges);

// Returns both snippets if they differ, matches in brackets, or an empty string.
std::string Difference(const google::protobuf::RepeatedPtrField<SnippetPiece>& a,
                       const google::protobuf::RepeatedPtrField<SnippetPiece>& b);

}  // namespace search::docserver
