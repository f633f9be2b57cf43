#include "index/core/query/stop_words.h"

#include <algorithm>

namespace search::index {

namespace {

// Ascending.
constexpr std::string_view kStopWords[] = {
    "a",      "am",   "an",   "are",   "be",    "been", "can",   "could", "did",
    "does",   "how",  "i",    "it",    "its",   "me",   "my",    "of",    "our",
    "should", "that", "the",  "there", "these", "they", "those", "to",    "was",
    "we",     "were", "what", "will",  "would", "you",  "your",
};
static_assert(std::is_sorted(std::begin(kStopWords), std::end(kStopWords)));

}  // namespace

bool IsStopWord(std::string_view folded) {
  return std::binary_search(std::begin(kStopWords), std::end(kStopWords), folded);
}

}  // namespace search::index
