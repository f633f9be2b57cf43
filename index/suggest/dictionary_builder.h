// Builds the file of spelling_dictionary.h from the words and phrases of a collection.
//
// Writes a file.
// Threads: thread-compatible.
// Errors: UNAVAILABLE for the file system.
// Limits: of more than kDictionaryWordsMax words the first are kept. Takes memory for all words,
//   pairs, and deletion entries: about 150 bytes a word and 30 a pair.
//
// Deterministic: the same calls yield the same bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "index/suggest/spelling_format.h"
#include "neptune/base/status.h"

namespace search::index {

struct DictionaryWord {
  std::string_view folded;
  std::string_view shown;  // in lower case, with accents
  uint32_t document_count = 0;
  bool may_be_meant = true;
};

class DictionaryBuilder {
 public:
  // Words ascend. Those over kDictionaryWordMax characters are left out.
  void AddWord(const DictionaryWord& word);
  // Adds the adjacent words of a phrase: folded words with single spaces, in that many documents.
  // Words that are never added are ignored.
  void AddPhrase(std::string_view key, uint32_t document_count);

  // Writes `directory`/spelling for each directory. Call it once.
  neptune::Status Write(const std::vector<std::string>& directories,
                        uint64_t collection_document_count, uint64_t count_error_max);

 private:
  struct Pair {
    uint32_t left = 0;
    uint32_t right = 0;
    uint32_t document_count = 0;
  };
  // A phrase in phrase_keys_, until all words are known.
  struct Phrase {
    uint32_t key_at = 0;
    uint32_t key_size = 0;
    uint32_t document_count = 0;
  };
  struct Deletions {
    std::vector<uint32_t> begins;
    std::vector<uint32_t> entries;
  };

  std::string_view Word(size_t i) const {
    return std::string_view(texts_).substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }
  using WordNumbers = absl::flat_hash_map<std::string_view, uint32_t>;
  WordNumbers NumberWords() const;
  // Calls visit(key, word) for every deletion key of the words that may be meant.
  template <typename Visit>
  void ForEachDeletion(const Visit& visit) const;
  Deletions MakeDeletions() const;
  std::vector<Pair> MakePairs() const;
  neptune::Status WriteFile(const std::string& path, const DictionaryTotals& totals,
                            const Deletions& deletions, const std::vector<Pair>& pairs) const;

  std::vector<uint32_t> offsets_ = {0};
  std::string texts_;
  std::vector<uint32_t> counts_;
  std::vector<uint32_t> shown_words_;
  std::vector<uint32_t> shown_offsets_ = {0};
  std::string shown_texts_;
  std::string phrase_keys_;
  std::vector<Phrase> phrases_;
};

}  // namespace search::index
