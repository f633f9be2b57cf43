// Distinct queries for load tests, made of the words of a corpus.
//
// Source: none. Layer: tests. Reads a file of JSON Lines once.
// Threads: pure function.
// Errors: those of reading the corpus; INVALID_ARGUMENT it holds too few words for so many queries.
// Limits: kSampledDocumentsMax documents are remembered.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/status.h"

namespace search::tests {

inline constexpr size_t kSampledDocumentsMax = 100'000;

// `count` different queries of one to four words: half of them words of one document's title, half
// words that stand near each other in its text. The same seed gives the same queries.
neptune::StatusOr<std::vector<std::string>> MakeQueries(const std::string& corpus, size_t count,
                                                        uint64_t seed);

}  // namespace search::tests
