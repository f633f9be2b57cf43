// The dictionary of a whole collection, by which questions are spelled: its words with their
// numbers of documents, which words stand next to each other, and which are close to any text.
//
//   "hahs" ─► keys (deletion_keys.h) ─► bucket of each ─► words with the same key ─► compared
//
// Format: format.md.
// Maps a file read-only.
// Threads: immutable.
// Errors: NOT_FOUND for a missing file; DATA_LOSS for a damaged one or one of another version,
//   detected when it is opened, or, if it is damaged later, by CheckSound: numbers that lead out of
//   the file read as nothing and are noted.
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
    return Part(offsets_, i, texts_, kDictionaryWordSizeMax);
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
    const auto [begin, end] = RangeOf(bucket_begins_, bucket, entries_.size());
    for (size_t at = begin; at < end; ++at) {
      const size_t word = entries_[at] ^ tag;
      if (word >= kDictionaryWordsMax) continue;
      if (word >= word_count()) {
        file_->NoteDamage();
        return;
      }
      visit(word);
    }
  }

  const SectionFile* file() const { return file_.get(); }
  // OK if what was read may be believed; see SectionFile.
  neptune::Status CheckSound() const { return file_->CheckSound(); }

  const DictionaryTotals& totals() const { return totals_; }
  uint64_t size() const { return file_->size(); }

 private:
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };

  SpellingDictionary() = default;
  // The range between begins[i] and the next, empty and noted if that is none of `size` things.
  // Each number is read once: the bytes may change.
  Range RangeOf(std::span<const uint32_t> begins, size_t i, size_t size) const {
    if (i + 1 < begins.size()) {
      const Range range = {begins[i], begins[i + 1]};
      if (range.begin <= range.end && range.end <= size) return range;
    }
    file_->NoteDamage();
    return {};
  }
  // The same of texts, of which none is longer than size_max.
  std::string_view Part(std::span<const uint32_t> begins, size_t i, std::string_view texts,
                        size_t size_max) const {
    const auto [begin, end] = RangeOf(begins, i, texts.size());
    if (end - begin <= size_max) return texts.substr(begin, end - begin);
    file_->NoteDamage();
    return {};
  }
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
