// Finishes the suggestions of a collection: adds up what its partitions counted, chooses the
// phrases worth suggesting, and writes to each partition's folder those of them that its own
// documents hold, with counts and weights of the whole collection. The first partitions also get
// the dictionary of the whole collection.
//
// So every partition orders its phrases as the whole collection does, and the merged best of the
// partitions are the best of the collection (README.md has the exact words).
//
// Format: format.md.
// Reads suggest.counts, writes suggest in each folder, and spelling in the first ones.
// Threads: uses thread_count threads inside the call.
// Errors: NOT_FOUND a partition without counts; DATA_LOSS, UNAVAILABLE as of section files.
// Limits: SuggestionLimits; memory is that of the phrases of thread_count partitions, about 70
//   bytes each, and their text, and what DictionaryBuilder takes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "index/suggest/asked_query.h"
#include "index/suggest/spelling_format.h"
#include "neptune/base/status.h"

namespace search::index {

struct SuggestionLimits {
  // Number of words, word sequences and names (headings, texts of links) chosen, by descending
  // number of documents; of equal ones all or none. Words of titles are chosen in addition.
  // Larger: rarer words are completed and spelled, for about 20 bytes each in each partition, and
  // 130 in the dictionary.
  size_t word_count_max = size_t{1} << 18;
  size_t sequence_count_max = size_t{1} << 18;
  size_t name_count_max = size_t{1} << 18;
  // Minimal number of documents of a word sequence. Larger: fewer meaningless phrases.
  uint32_t sequence_documents_min = 3;
  // A name of more documents than this, and than this part of all, is left out. Larger: more names
  // of parts that all documents have (`See also`, `Return value`), which are not asked for.
  uint64_t name_documents_max = 8;
  uint64_t name_documents_share = 64;
};

struct SuggestionWriterOptions {
  SuggestionLimits limits = {};
  int thread_count = 1;
  // Questions that people asked; they come with titles and names, before words.
  std::vector<AskedQuery> queries = {};
  // Number of folders, from the first, that get the dictionary.
  size_t dictionary_copies = kDictionaryCopies;
};

// `directories`: the folders of all partitions of the collection, those of tier 1 first.
neptune::Status FinishSuggestions(const std::vector<std::string>& directories,
                                  const SuggestionWriterOptions& options = {});

}  // namespace search::index
