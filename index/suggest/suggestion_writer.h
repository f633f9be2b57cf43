// Finishes the suggestions of a collection: adds up the counts of its partitions, chooses the
// phrases worth suggesting, and writes to each partition's directory those that its own documents
// hold, with collection-wide counts and weights.
//
// So every partition orders its phrases as the whole collection does, and the merged best of the
// partitions are the best of the collection (README.md states this precisely).
//
// Format: format.md.
// Reads suggest.counts, writes suggest in each directory.
// Threads: uses thread_count threads inside the call.
// Errors: NOT_FOUND for a partition without counts; DATA_LOSS and UNAVAILABLE as for section files.
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
  // Maximum number of words and word sequences chosen, by descending number of documents; ties are
  // chosen all or not at all. Words of titles are chosen in addition. Larger: rarer words are
  // completed and corrected, for about 40 bytes each in each partition.
  size_t word_count_max = size_t{1} << 18;
  size_t sequence_count_max = size_t{1} << 18;
  // Minimum number of documents that hold a word sequence. Larger: fewer meaningless phrases.
  uint32_t sequence_documents_min = 3;
};

struct SuggestionWriterOptions {
  SuggestionLimits limits = {};
  int thread_count = 1;
};

// `directories`: the directories of all partitions of the collection, both tiers.
neptune::Status FinishSuggestions(const std::vector<std::string>& directories,
                                  const SuggestionWriterOptions& options = {});

}  // namespace search::index
