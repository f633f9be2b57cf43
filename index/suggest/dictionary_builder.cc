#include "index/suggest/dictionary_builder.h"

#include <algorithm>
#include <bit>
#include <span>
#include <tuple>
#include <utility>

#include "index/suggest/deletion_keys.h"
#include "index/suggest/phrase_text.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

using neptune::Status;

// Buckets for each word that may be meant, of some 25 keys. Larger: a larger table, fewer entries
// read for each key. Default: under ten entries.
constexpr size_t kBucketsPerWord = 2;
constexpr size_t kPhraseKeysMax = UINT32_MAX;

template <typename T>
void Append(SectionFileWriter* file, DictionarySection section, std::span<const T> values) {
  file->BeginSection(section);
  file->AppendArray(values);
}

}  // namespace

void DictionaryBuilder::AddWord(const DictionaryWord& word) {
  if (CharacterCount(word.folded) > kDictionaryWordMax) return;
  if (counts_.size() == kDictionaryWordsMax) return;
  if (word.shown != word.folded) {
    shown_words_.push_back(static_cast<uint32_t>(counts_.size()));
    shown_texts_ += word.shown;
    shown_offsets_.push_back(static_cast<uint32_t>(shown_texts_.size()));
  }
  texts_ += word.folded;
  offsets_.push_back(static_cast<uint32_t>(texts_.size()));
  const uint32_t documents = std::min(word.document_count, kDictionaryDocumentsMax);
  counts_.push_back(documents << 1 | (word.may_be_meant ? 1 : 0));
}

void DictionaryBuilder::AddPhrase(std::string_view key, uint32_t document_count) {
  if (phrase_keys_.size() + key.size() > kPhraseKeysMax) return;
  phrases_.push_back({static_cast<uint32_t>(phrase_keys_.size()), static_cast<uint32_t>(key.size()),
                      document_count});
  phrase_keys_ += key;
}

DictionaryBuilder::WordNumbers DictionaryBuilder::NumberWords() const {
  WordNumbers numbers;
  numbers.reserve(counts_.size());
  for (uint32_t i = 0; i < counts_.size(); ++i) numbers.emplace(Word(i), i);
  return numbers;
}

template <typename Visit>
void DictionaryBuilder::ForEachDeletion(const Visit& visit) const {
  std::vector<uint64_t> keys;
  for (uint32_t i = 0; i < counts_.size(); ++i) {
    if ((counts_[i] & 1) == 0) continue;
    DeletionKeys(Word(i), StoredDeletions(CharacterCount(Word(i))), &keys);
    for (const uint64_t key : keys) visit(key, i);
  }
}

DictionaryBuilder::Deletions DictionaryBuilder::MakeDeletions() const {
  const auto meant_count = static_cast<size_t>(
      std::count_if(counts_.begin(), counts_.end(), [](uint32_t n) { return n % 2 == 1; }));
  const size_t bucket_count = std::bit_ceil(kBucketsPerWord * meant_count + 1);
  const auto bits = static_cast<uint32_t>(std::countr_zero(bucket_count));
  Deletions deletions;
  deletions.begins.resize(bucket_count + 1);
  ForEachDeletion(
      [&](uint64_t key, uint32_t) { ++deletions.begins[DeletionBucket(key, bits) + 1]; });
  for (size_t i = 1; i <= bucket_count; ++i) deletions.begins[i] += deletions.begins[i - 1];
  deletions.entries.resize(deletions.begins.back());
  std::vector<uint32_t> ends(deletions.begins.begin(), deletions.begins.end() - 1);
  ForEachDeletion([&](uint64_t key, uint32_t word) {
    deletions.entries[ends[DeletionBucket(key, bits)]++] = DeletionTag(key) | word;
  });
  return deletions;
}

std::vector<DictionaryBuilder::Pair> DictionaryBuilder::MakePairs() const {
  std::vector<Pair> pairs;
  const auto none = static_cast<uint32_t>(counts_.size());
  const WordNumbers numbers = NumberWords();
  for (const Phrase& phrase : phrases_) {
    const auto key = std::string_view(phrase_keys_).substr(phrase.key_at, phrase.key_size);
    uint32_t left = none;
    for (size_t begin = 0; begin <= key.size();) {
      const size_t end = std::min(key.find(' ', begin), key.size());
      const auto found = numbers.find(key.substr(begin, end - begin));
      const uint32_t right = found != numbers.end() ? found->second : none;
      if (left != none && right != none) pairs.push_back({left, right, phrase.document_count});
      left = right;
      begin = end + 1;
    }
  }
  // The most frequent of all phrases with the pair counts.
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::tuple(a.left, a.right, ~a.document_count) <
           std::tuple(b.left, b.right, ~b.document_count);
  });
  const auto is_same = [](const Pair& a, const Pair& b) {
    return a.left == b.left && a.right == b.right;
  };
  pairs.erase(std::unique(pairs.begin(), pairs.end(), is_same), pairs.end());
  return pairs;
}

Status DictionaryBuilder::WriteFile(const std::string& path, const DictionaryTotals& totals,
                                    const Deletions& deletions,
                                    const std::vector<Pair>& pairs) const {
  NEPTUNE_ASSIGN_OR_RETURN(const auto file, SectionFileWriter::Create(path, kDictionaryKind));
  Append(file.get(), kDictionaryTotalsSection, std::span<const DictionaryTotals>(&totals, 1));
  Append(file.get(), kDictionaryOffsetsSection, std::span<const uint32_t>(offsets_));
  file->BeginSection(kDictionaryTextsSection);
  file->Append(texts_);
  Append(file.get(), kDictionaryCountsSection, std::span<const uint32_t>(counts_));
  Append(file.get(), kShownWordsSection, std::span<const uint32_t>(shown_words_));
  Append(file.get(), kShownOffsetsSection, std::span<const uint32_t>(shown_offsets_));
  file->BeginSection(kShownTextsSection);
  file->Append(shown_texts_);
  Append(file.get(), kDeletionBeginsSection, std::span<const uint32_t>(deletions.begins));
  Append(file.get(), kDeletionEntriesSection, std::span<const uint32_t>(deletions.entries));
  std::vector<uint32_t> begins(counts_.size() + 1);
  std::vector<uint32_t> rights;
  std::vector<uint32_t> counts;
  for (const Pair& pair : pairs) {
    ++begins[pair.left + 1];
    rights.push_back(pair.right);
    counts.push_back(pair.document_count);
  }
  for (size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  Append(file.get(), kPairBeginsSection, std::span<const uint32_t>(begins));
  Append(file.get(), kPairRightsSection, std::span<const uint32_t>(rights));
  Append(file.get(), kPairCountsSection, std::span<const uint32_t>(counts));
  return file->Finish().status();
}

Status DictionaryBuilder::Write(const std::vector<std::string>& directories,
                                uint64_t collection_document_count, uint64_t count_error_max) {
  const Deletions deletions = MakeDeletions();
  const std::vector<Pair> pairs = MakePairs();
  const DictionaryTotals totals = {.word_count = counts_.size(),
                                   .pair_count = pairs.size(),
                                   .collection_document_count = collection_document_count,
                                   .count_error_max = count_error_max};
  for (const std::string& directory : directories) {
    NEPTUNE_RETURN_IF_ERROR(
        WriteFile(neptune::StrCat(directory, "/", kDictionaryFileName), totals, deletions, pairs));
  }
  return neptune::OkStatus();
}

}  // namespace search::index
