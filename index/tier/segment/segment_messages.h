// The index core's queries and answers as the tier's messages, for all variants that search its
// segments.
//
// Threads: pure functions, except SuggestionFiles::Open.
// Errors: SuggestionFiles::Open: those of SuggestionIndex::Open and SpellingDictionary::Open except
//   NOT_FOUND. Suggest, Spell: UNIMPLEMENTED without the file.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/search/searcher.h"
#include "index/core/segment/segment_reader.h"
#include "index/suggest/spelling_dictionary.h"
#include "index/suggest/suggestion_index.h"
#include "index/tier/index_tier.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr char kSegmentTierName[] = "segment";

// The options refer to `control`, which must outlive them.
SearchOptions ToSearchOptions(const TierQuery& tier_query, const TierSearchControl& control);
// The answer of variant "segment" to a search with these options.
TierAnswer ToAnswer(const TierQuery& tier_query, const SearchResult& result,
                    uint64_t index_version);

// Adds the number of documents in these segments that hold each scoring word, deleted ones
// included.
neptune::Status AddWordCounts(const std::vector<const Segment*>& segments, const Query& query,
                              TierAnswer* answer);

// The files of a partition for completion and spelling. Errors: DATA_LOSS if what was read of a
// file cannot be believed.
struct SuggestionFiles {
  std::unique_ptr<SuggestionIndex> suggestions;    // null: built without suggestions
  std::unique_ptr<SpellingDictionary> dictionary;  // null: other partitions have it

  static neptune::StatusOr<SuggestionFiles> Open(const std::string& directory);
  // Null: there is none.
  const SectionFile* SuggestionsFile() const {
    return suggestions == nullptr ? nullptr : suggestions->file();
  }
  const SectionFile* DictionaryFile() const {
    return dictionary == nullptr ? nullptr : dictionary->file();
  }
  neptune::StatusOr<SuggestAnswer> Suggest(const SuggestQuery& query, uint64_t index_version) const;
  neptune::StatusOr<SpellAnswer> Spell(const SpellQuery& query, uint64_t index_version) const;
};

}  // namespace search::index
