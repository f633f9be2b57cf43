// The dictionary of a whole collection, by which questions are spelled: its words with their
// numbers of documents, which words stand next to each other, and which are close to any text.
//
//   "hahs" ─► keys (deletion_keys.h) ─► bucket of each ─► words with the same key ─► compared
//
// Format: format.md.
// Maps a file read-only.
// Threads: immutable.
// Errors: NOT_FOUND for a missing file; DATA_LOSS for a damaged one or one of another version,
//   detected when it is opened.
// Limits: kDictionaryWordsMax words of at most kDictionaryWordMax characters.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "index/core/segment/section_file.h"
#include "index/suggest/spelling_format.h"
#include "neptune/base/status.h"

namespace search::index {

class SpellingDictionary {
 public:
  // Maps `directory`/spelling.
  static neptune::StatusOr<std::unique_ptr<SpellingDictionary>> Open(
      const std::string& directory, const OpenOptions& options = {});
  // Reads from a container that is already open.
  static neptune::StatusOr<std::unique_ptr<SpellingDictionary>> FromFile(
      std::unique_ptr<SectionFile> file);

  // Folded words are numbered from 0 in ascending order.
  size_t word_count() const { return counts_.size(); }
  std::string_view word(size_t i) const {
    return texts_.substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }
  // The word in lower case, with the accents that most documents write.
  std::string_view shown(size_t i) const;
  // Number of documents of the collection that hold the word.
  uint32_t document_count(size_t i) const { return counts_[i] >> 1; }
  // True if other words may be read as this one.
  bool may_be_meant(size_t i) const { return (counts_[i] & 1) != 0; }
  std::optional<size_t> Find(std::string_view folded) const;
  // Number of documents with the word; 0 if it is not in the dictionary.
  uint32_t CountOf(std::string_view folded) const;
  // Number of documents in which the words are known to be adjacent, a lower bound; 0 if unknown.
  uint32_t PairCount(std::string_view left, std::string_view right) const;

  // Calls visit(word) for words with that deletion key and few others, in ascending order.
  template <typename Visit>
  void ForEachWithKey(uint64_t key, const Visit& visit) const {
    const size_t bucket = DeletionBucket(key, bucket_bits_);
    const uint32_t tag = DeletionTag(key);
    for (uint32_t at = bucket_begins_[bucket]; at < bucket_begins_[bucket + 1]; ++at) {
      const uint32_t entry = entries_[at];
      if ((entry ^ tag) < kDictionaryWordsMax) visit(size_t{entry ^ tag});
    }
  }

  const DictionaryTotals& totals() const { return totals_; }
  uint64_t size() const { return file_->size(); }

 private:
  SpellingDictionary() = default;
  neptune::Status Load();
  neptune::Status LoadWords();
  neptune::Status LoadShown();
  neptune::Status LoadDeletions();
  neptune::Status LoadPairs();

  std::unique_ptr<SectionFile> file_;
  DictionaryTotals totals_;
  std::span<const uint32_t> offsets_;
  std::string_view texts_;
  std::span<const uint32_t> counts_;
  std::span<const uint32_t> shown_words_;
  std::span<const uint32_t> shown_offsets_;
  std::string_view shown_texts_;
  uint32_t bucket_bits_ = 0;
  std::span<const uint32_t> bucket_begins_;
  std::span<const uint32_t> entries_;
  std::span<const uint32_t> pair_begins_;
  std::span<const uint32_t> pair_rights_;
  std::span<const uint32_t> pair_counts_;
};

}  // namespace search::index
