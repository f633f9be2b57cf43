// The suggestions of one partition: the best completions of the typed text, the vocabulary, and the
// pairs of words.
//
// Format: format.md.
// Maps a file read-only.
// Threads: immutable.
// Errors: NOT_FOUND for a missing file; DATA_LOSS for a damaged one, detected when it is opened.
// Limits: a completion examines O(k log n) entries whatever the prefix.
//
// Results are those of the whole collection that the partition holds: counts and weights are the
// collection's.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/segment/section_file.h"
#include "index/suggest/range_max.h"
#include "index/suggest/suggestion_format.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr size_t kCompletionsMax = 100;

struct Completion {
  std::string text;  // display text; as a query it matches a document of this partition
  std::string key;
  uint32_t start = 0;  // byte offset in the key at which the typed text matches
  uint32_t weight = 0;
  uint32_t document_count = 0;

  bool operator==(const Completion&) const = default;
};

// The order of completions of one prefix: by weight, then by the text from the match on, then by
// key.
bool IsBetterCompletion(const Completion& a, const Completion& b);

class SuggestionIndex {
 public:
  // Maps `directory`/suggest.
  static neptune::StatusOr<std::unique_ptr<SuggestionIndex>> Open(const std::string& directory,
                                                                  const OpenOptions& options = {});
  // Reads from a container that is already open.
  static neptune::StatusOr<std::unique_ptr<SuggestionIndex>> FromFile(
      std::unique_ptr<SectionFile> file);

  // Returns the best `count_max` (at most kCompletionsMax) phrases that contain `prefix` at the
  // start of a word, in the order above, each once with its best match. `prefix` is folded words
  // separated by single spaces, followed by a space if the last word is complete; an empty prefix
  // has no completions.
  std::vector<Completion> Complete(std::string_view prefix, size_t count_max) const;

  bool HasCompletion(std::string_view prefix) const {
    const Range range = EntriesOf(prefix);
    return range.begin < range.end;
  }

  // Phrases are numbered from 0 in ascending order of key.
  size_t phrase_count() const { return records_.size(); }
  std::string_view key(size_t phrase) const { return Text(2 * phrase); }
  std::string_view display(size_t phrase) const {
    const std::string_view shown = Text(2 * phrase + 1);
    return shown.empty() ? key(phrase) : shown;
  }
  const PhraseRecord& record(size_t phrase) const { return records_[phrase]; }
  std::optional<size_t> FindPhrase(std::string_view key) const;

  // The vocabulary: words of documents, by number of characters, then ascending.
  size_t word_count() const { return words_.size(); }
  size_t word_phrase(size_t word) const { return words_[word]; }
  std::string_view word(size_t word) const {
    return word_texts_.substr(word_offsets_[word], word_offsets_[word + 1] - word_offsets_[word]);
  }
  // Index of the first word of at least `characters` characters; word_count() if there is none.
  size_t FirstWordOf(size_t characters) const {
    return word_begins_[std::min(characters, word_begins_.size() - 1)];
  }
  // Number of documents of the collection that contain the word; 0 if it is not in the vocabulary.
  uint32_t WordCount(std::string_view folded) const;
  // Signatures (letter_signature.h), indexed by word.
  std::span<const uint32_t> word_signatures() const { return word_signatures_; }

  const SuggestionTotals& totals() const { return totals_; }
  uint64_t size() const { return file_->size(); }

 private:
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };

  SuggestionIndex() = default;
  neptune::Status Load();
  neptune::Status LoadPhrases();
  neptune::Status LoadEntries();
  neptune::Status LoadWords();
  std::string_view Text(size_t i) const {
    return texts_.substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }
  std::string_view EntryText(size_t entry) const {
    return key(entry_phrases_[entry]).substr(entry_starts_[entry]);
  }
  // The entries whose text begins with the prefix.
  Range EntriesOf(std::string_view prefix) const;

  std::unique_ptr<SectionFile> file_;
  SuggestionTotals totals_;
  std::span<const uint32_t> offsets_;
  std::string_view texts_;
  std::span<const PhraseRecord> records_;
  std::span<const uint32_t> entry_phrases_;
  std::span<const uint8_t> entry_starts_;
  RangeMax entry_weights_;
  std::span<const uint32_t> words_;
  std::span<const uint32_t> word_signatures_;
  // A contiguous copy, because spelling reads many of them.
  std::span<const uint32_t> word_offsets_;
  std::string_view word_texts_;
  std::array<size_t, kVocabularyWordMax + 2> word_begins_ = {};  // indexed by number of characters
};

}  // namespace search::index
