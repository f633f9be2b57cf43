// The suggestions of one partition: the best completions of the typed text.
//
// Format: format.md.
// Maps a file read-only.
// Threads: immutable.
// Errors: NOT_FOUND for a missing file; DATA_LOSS for a damaged one, detected when it is opened, or
//   by CheckSound if it is damaged later: numbers of phrases and texts that lead out of the file
//   read as nothing and are noted.
// Limits: a completion examines O(k log n) entries whatever the prefix.
//
// Results are those of the whole collection that the partition holds: counts and weights are the
// collection's.

#pragma once

#include <cstdint>
#include <memory>
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

  // Phrases are numbered from 0 in ascending order of key.
  size_t phrase_count() const { return records_.size(); }
  std::string_view key(size_t phrase) const { return Text(2 * phrase); }
  std::string_view display(size_t phrase) const {
    const std::string_view shown = Text(2 * phrase + 1);
    return shown.empty() ? key(phrase) : shown;
  }
  PhraseRecord record(size_t phrase) const {
    if (phrase < records_.size()) return records_[phrase];
    file_->NoteDamage();
    return {};
  }

  const SectionFile* file() const { return file_.get(); }
  // OK if completions that were made may be believed; see SectionFile.
  neptune::Status CheckSound() const { return file_->CheckSound(); }

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
  // Each number is read once, and is a bound only after it was checked: the bytes may change.
  std::string_view Text(size_t i) const {
    if (i + 1 < offsets_.size()) {
      const uint32_t begin = offsets_[i];
      const uint32_t end = offsets_[i + 1];
      if (begin <= end && end <= texts_.size()) return texts_.substr(begin, end - begin);
    }
    file_->NoteDamage();
    return {};
  }
  std::string_view EntryText(size_t entry) const {
    const std::string_view text = key(entry_phrases_[entry]);
    const size_t start = entry_starts_[entry];
    if (start <= text.size()) return text.substr(start);
    file_->NoteDamage();
    return {};
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
};

}  // namespace search::index
