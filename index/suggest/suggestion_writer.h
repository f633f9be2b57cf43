// Finishes the suggestions of a collection: adds up what its partitions counted, chooses the
// phrases worth suggesting, and writes to each partition's folder those of them that its own
// documents hold, with counts and weights of the whole collection.
//
// So every partition orders its phrases as the whole collection does, and the merged best of the
// partitions are the best of the collection (README.md has the exact words).
//
// Format: format.md.
// Reads suggest.counts, writes suggest in each folder.
// Threads: uses thread_count threads inside the call.
// Errors: NOT_FOUND a partition without counts; DATA_LOSS, UNAVAILABLE as of section files.
// Limits: SuggestionLimits; memory is that of the phrases of thread_count partitions, about 70
//   bytes each, and their text.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/status.h"

namespace search::index {

struct SuggestionLimits {
  // Number of words and word sequences chosen, by descending number of documents; of equal ones all
  // or none. Words of titles are chosen in addition.
  // Larger: rarer words are completed and spelled, for about 40 bytes each in each partition.
  size_t word_count_max = size_t{1} << 18;
  size_t sequence_count_max = size_t{1} << 18;
  // Minimal number of documents of a word sequence. Larger: fewer meaningless phrases.
  uint32_t sequence_documents_min = 3;
};

struct SuggestionWriterOptions {
  SuggestionLimits limits = {};
  int thread_count = 1;
};

// `directories`: the folders of all partitions of the collection, both tiers.
neptune::Status FinishSuggestions(const std::vector<std::string>& directories,
                                  const SuggestionWriterOptions& options = {});

}  // namespace search::index
