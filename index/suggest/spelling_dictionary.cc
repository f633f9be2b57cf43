#include "index/suggest/spelling_dictionary.h"

#include <algorithm>
#include <bit>
#include <ranges>
#include <utility>

#include "index/suggest/phrase_text.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

using neptune::Status;
using neptune::StatusOr;

// True if the numbers ascend from 0 to `end`, equal ones allowed: beginnings of consecutive ranges.
bool AreBegins(std::span<const uint32_t> begins, size_t count, size_t end) {
  return begins.size() == count + 1 && begins.front() == 0 && begins.back() == end &&
         std::is_sorted(begins.begin(), begins.end());
}

bool AscendStrictly(std::span<const uint32_t> numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) ==
         numbers.end();
}

}  // namespace

StatusOr<std::unique_ptr<SpellingDictionary>> SpellingDictionary::Open(const std::string& directory,
                                                                       const OpenOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(auto file,
                           SectionFile::Open(neptune::StrCat(directory, "/", kDictionaryFileName),
                                             kDictionaryKind, options));
  return FromFile(std::move(file));
}

StatusOr<std::unique_ptr<SpellingDictionary>> SpellingDictionary::FromFile(
    std::unique_ptr<SectionFile> file) {
  std::unique_ptr<SpellingDictionary> dictionary(new SpellingDictionary());
  dictionary->file_ = std::move(file);
  NEPTUNE_RETURN_IF_ERROR(dictionary->Load());
  // Checks of single words note what they find.
  if (!dictionary->file_->damage_noted()) return dictionary;
  return dictionary->file_->Damaged("a word is too long, or leads out of the file");
}

Status SpellingDictionary::Load() {
  NEPTUNE_ASSIGN_OR_RETURN(const auto totals,
                           file_->Array<DictionaryTotals>(kDictionaryTotalsSection));
  if (totals.size() != 1) return file_->Damaged("expected one record of totals");
  totals_ = totals[0];
  NEPTUNE_RETURN_IF_ERROR(LoadWords());
  NEPTUNE_RETURN_IF_ERROR(LoadShown());
  NEPTUNE_RETURN_IF_ERROR(LoadDeletions());
  return LoadPairs();
}

Status SpellingDictionary::LoadWords() {
  NEPTUNE_ASSIGN_OR_RETURN(offsets_, file_->Array<uint32_t>(kDictionaryOffsetsSection));
  NEPTUNE_ASSIGN_OR_RETURN(texts_, file_->Section(kDictionaryTextsSection));
  NEPTUNE_ASSIGN_OR_RETURN(counts_, file_->Array<uint32_t>(kDictionaryCountsSection));
  if (counts_.size() != totals_.word_count || counts_.size() > kDictionaryWordsMax ||
      !AreBegins(offsets_, counts_.size(), texts_.size())) {
    return file_->Damaged("words and their texts are inconsistent");
  }
  for (size_t i = 0; i < word_count(); ++i) {
    if (i > 0 && word(i) <= word(i - 1)) return file_->Damaged("word ", i, " is out of order");
    if (CharacterCount(word(i)) > kDictionaryWordMax) {
      return file_->Damaged("word ", i, " is too long");
    }
  }
  return neptune::OkStatus();
}

Status SpellingDictionary::LoadShown() {
  NEPTUNE_ASSIGN_OR_RETURN(shown_words_, file_->Array<uint32_t>(kShownWordsSection));
  NEPTUNE_ASSIGN_OR_RETURN(shown_offsets_, file_->Array<uint32_t>(kShownOffsetsSection));
  NEPTUNE_ASSIGN_OR_RETURN(shown_texts_, file_->Section(kShownTextsSection));
  if (!AreBegins(shown_offsets_, shown_words_.size(), shown_texts_.size()) ||
      !AscendStrictly(shown_words_)) {
    return file_->Damaged("words with accents are inconsistent");
  }
  return neptune::OkStatus();
}

Status SpellingDictionary::LoadDeletions() {
  NEPTUNE_ASSIGN_OR_RETURN(bucket_begins_, file_->Array<uint32_t>(kDeletionBeginsSection));
  NEPTUNE_ASSIGN_OR_RETURN(entries_, file_->Array<uint32_t>(kDeletionEntriesSection));
  if (bucket_begins_.size() < 2 || !std::has_single_bit(bucket_begins_.size() - 1) ||
      !AreBegins(bucket_begins_, bucket_begins_.size() - 1, entries_.size())) {
    return file_->Damaged("tables of deletions are inconsistent");
  }
  bucket_bits_ = static_cast<uint32_t>(std::countr_zero(bucket_begins_.size() - 1));
  for (const uint32_t entry : entries_) {
    if (entry % kDictionaryWordsMax >= word_count()) {
      return file_->Damaged("a deletion refers to no word");
    }
  }
  return neptune::OkStatus();
}

Status SpellingDictionary::LoadPairs() {
  NEPTUNE_ASSIGN_OR_RETURN(pair_begins_, file_->Array<uint32_t>(kPairBeginsSection));
  NEPTUNE_ASSIGN_OR_RETURN(pair_rights_, file_->Array<uint32_t>(kPairRightsSection));
  NEPTUNE_ASSIGN_OR_RETURN(pair_counts_, file_->Array<uint32_t>(kPairCountsSection));
  if (pair_rights_.size() != totals_.pair_count || pair_counts_.size() != pair_rights_.size() ||
      !AreBegins(pair_begins_, word_count(), pair_rights_.size())) {
    return file_->Damaged("tables of pairs are inconsistent");
  }
  for (size_t left = 0; left < word_count(); ++left) {
    if (!AscendStrictly(pair_rights_.subspan(pair_begins_[left],
                                             pair_begins_[left + 1] - pair_begins_[left]))) {
      return file_->Damaged("pairs of word ", left, " are out of order");
    }
  }
  return neptune::OkStatus();
}

std::string_view SpellingDictionary::shown(size_t i) const {
  const auto at = std::lower_bound(shown_words_.begin(), shown_words_.end(), i);
  if (at == shown_words_.end() || *at != i) return word(i);
  const auto number = static_cast<size_t>(at - shown_words_.begin());
  return Part(shown_offsets_, number, shown_texts_, kShownWordSizeMax);
}

std::optional<size_t> SpellingDictionary::Find(std::string_view folded) const {
  const auto words = std::views::iota(size_t{0}, word_count());
  const auto at = std::ranges::partition_point(words, [&](size_t i) { return word(i) < folded; });
  if (at == words.end() || word(*at) != folded) return std::nullopt;
  return *at;
}

uint32_t SpellingDictionary::CountOf(std::string_view folded) const {
  const std::optional<size_t> found = Find(folded);
  return found ? document_count(*found) : 0;
}

uint32_t SpellingDictionary::PairCount(std::string_view left, std::string_view right) const {
  const std::optional<size_t> first = Find(left);
  const std::optional<size_t> second = first ? Find(right) : std::nullopt;
  if (!second) return 0;
  const Range range = RangeOf(pair_begins_, *first, pair_rights_.size());
  const auto rights = pair_rights_.subspan(range.begin, range.end - range.begin);
  const auto at = std::lower_bound(rights.begin(), rights.end(), *second);
  if (at == rights.end() || *at != *second) return 0;
  return pair_counts_[range.begin + static_cast<size_t>(at - rights.begin())];
}

}  // namespace search::index
