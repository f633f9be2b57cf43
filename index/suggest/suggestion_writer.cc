#include "index/suggest/suggestion_writer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "index/core/segment/file_appender.h"
#include "index/core/segment/term_dictionary.h"
#include "index/core/segment/varint.h"
#include "index/suggest/dictionary_builder.h"
#include "index/suggest/phrase_counts.h"
#include "index/suggest/phrase_text.h"
#include "index/suggest/phrase_weight.h"
#include "index/suggest/query_phrases.h"
#include "index/suggest/range_max.h"
#include "index/suggest/suggestion_format.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

using neptune::Status;
using neptune::StatusOr;
using Readers = std::vector<std::unique_ptr<PhraseCountsReader>>;

// Maximum number of later words by which a phrase is found.
constexpr size_t kStartsMax = 6;

// A phrase with the counts of all partitions, and the partitions that hold it.
struct MergedPhrase {
  PhraseCounts counts;
  std::vector<size_t> holders;

  bool is_word() const { return counts.key.find(' ') == std::string::npos; }
  // Number of documents that contain the text.
  uint32_t text_count() const {
    uint64_t sum = 0;
    for (const PhraseVariant& variant : counts.variants) sum += variant.document_count;
    return static_cast<uint32_t>(std::min<uint64_t>(sum, UINT32_MAX));
  }
  // The same, or documents that it names.
  uint32_t document_count() const {
    return std::max({text_count(), counts.title.count, counts.name.count});
  }
};

void AddVariants(const std::vector<PhraseVariant>& from, std::vector<PhraseVariant>* to) {
  for (const PhraseVariant& variant : from) {
    const auto at =
        std::lower_bound(to->begin(), to->end(), variant,
                         [](const auto& a, const auto& b) { return a.surface < b.surface; });
    if (at != to->end() && at->surface == variant.surface) {
      at->document_count += variant.document_count;
    } else {
      to->insert(at, variant);
    }
  }
}

// Calls visit(phrase) for every phrase of the collection in ascending order of key.
template <typename Visit>
Status ForEachPhrase(const Readers& readers, const Visit& visit) {
  std::vector<size_t> live;
  const auto advance = [&](size_t i) -> StatusOr<bool> { return readers[i]->Next(); };
  for (size_t i = 0; i < readers.size(); ++i) {
    readers[i]->Rewind();
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, advance(i));
    if (more) live.push_back(i);
  }
  MergedPhrase merged;
  while (!live.empty()) {
    const size_t first = *std::min_element(live.begin(), live.end(), [&](size_t a, size_t b) {
      return readers[a]->phrase().key < readers[b]->phrase().key;
    });
    merged.counts = {.key = readers[first]->phrase().key};
    merged.holders.clear();
    for (const size_t i : live) {
      if (readers[i]->phrase().key == merged.counts.key) merged.holders.push_back(i);
    }
    for (const size_t i : merged.holders) {
      AddVariants(readers[i]->phrase().variants, &merged.counts.variants);
      merged.counts.is_title_word |= readers[i]->phrase().is_title_word;
      merged.counts.title.Add(readers[i]->phrase().title);
      merged.counts.name.Add(readers[i]->phrase().name);
    }
    NEPTUNE_RETURN_IF_ERROR(visit(merged));
    for (const size_t i : merged.holders) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, advance(i));
      if (!more) std::erase(live, i);
    }
  }
  return neptune::OkStatus();
}

// Selects the phrases to keep: the smallest counts that stay within the limits.
struct Thresholds {
  uint32_t word_documents_min = 1;
  uint32_t sequence_documents_min = 1;
  uint32_t name_documents_min = 1;
  // Names of more documents are those of a part that all documents have, such as `See also`.
  uint32_t name_documents_max = UINT32_MAX;

  bool Keeps(const MergedPhrase& phrase) const {
    return phrase.counts.title.count > 0 || KeepsName(phrase) || KeepsText(phrase);
  }
  bool KeepsName(const MergedPhrase& phrase) const {
    const uint32_t count = phrase.counts.name.count;
    return count >= std::max(1U, name_documents_min) && count <= name_documents_max;
  }
  bool KeepsText(const MergedPhrase& phrase) const {
    if (phrase.counts.is_title_word) return true;
    return phrase.text_count() >= (phrase.is_word() ? word_documents_min : sequence_documents_min);
  }
};

// The smallest count such that at most `limit` phrases have at least that count.
uint32_t SmallestCount(const std::map<uint32_t, uint64_t>& phrases_by_count, uint64_t limit,
                       uint32_t count_min) {
  uint64_t kept = 0;
  uint32_t smallest = UINT32_MAX;
  for (auto at = phrases_by_count.rbegin(); at != phrases_by_count.rend(); ++at) {
    kept += at->second;
    if (kept > limit || at->first < count_min) break;
    smallest = at->first;
  }
  return smallest;
}

// Also tells the questions which partitions have their words.
StatusOr<Thresholds> ChooseThresholds(const Readers& readers, const SuggestionLimits& limits,
                                      QueryPhrases* queries) {
  std::map<uint32_t, uint64_t> words;
  std::map<uint32_t, uint64_t> sequences;
  std::map<uint32_t, uint64_t> names;
  NEPTUNE_RETURN_IF_ERROR(ForEachPhrase(readers, [&](const MergedPhrase& phrase) {
    if (!phrase.counts.variants.empty())
      ++(phrase.is_word() ? words : sequences)[phrase.text_count()];
    if (phrase.counts.name.count > 0) ++names[phrase.counts.name.count];
    if (phrase.is_word()) queries->AddHolders(phrase.counts.key, phrase.holders);
    return neptune::OkStatus();
  }));
  uint64_t document_count = 0;
  for (const auto& reader : readers) document_count += reader->totals().document_count;
  return Thresholds{
      .word_documents_min = SmallestCount(words, limits.word_count_max, 1),
      .sequence_documents_min = SmallestCount(sequences, limits.sequence_count_max,
                                              std::max<uint32_t>(1, limits.sequence_documents_min)),
      .name_documents_min = SmallestCount(names, limits.name_count_max, 1),
      .name_documents_max = static_cast<uint32_t>(std::max<uint64_t>(
          limits.name_documents_max, document_count / limits.name_documents_share))};
}

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

// True if the title is written as in running text, except for capitals at the start of words.
bool IsWrittenLike(std::string_view title, std::string_view surface) {
  for (size_t i = 1; i < title.size(); ++i) {
    if (IsUpper(title[i]) && title[i - 1] != ' ' && title[i - 1] != '-') return false;
  }
  std::string lower;
  AppendLowerCase(title, &lower);
  return lower == surface;
}

// The display text: the title or name as written if it is valid as a query, unless many more
// documents write it in another way; then theirs. Empty if there is no such text.
std::string DisplayText(const PhraseCounts& phrase) {
  constexpr uint32_t kManyMore = 10;
  const NamedDocuments& named = phrase.title.count > 0 ? phrase.title : phrase.name;
  const auto best = std::max_element(
      phrase.variants.begin(), phrase.variants.end(),
      [](const auto& a, const auto& b) { return a.document_count < b.document_count; });
  const bool is_said = best != phrase.variants.end() && IsPlainQuery(best->surface);
  if (named.count > 0 && IsPlainQuery(named.text) &&
      (!is_said || best->document_count / kManyMore < named.count ||
       IsWrittenLike(named.text, best->surface))) {
    return named.text;
  }
  if (is_said) return best->surface;
  return IsPlainQuery(phrase.key) ? phrase.key : std::string();
}

struct ChosenPhrase {
  std::string_view key;
  std::string_view display;  // display text; empty: the same as the key
  PhraseRecord record;
};

// Part of a phrase's worth that is not its text's.
struct PhraseUse {
  bool is_name = false;
  uint32_t asked_count = 0;
};

void PutChosen(const MergedPhrase& phrase, const PhraseUse& use, std::string_view display,
               FileAppender* file) {
  const PhraseCounts& counts = phrase.counts;
  const size_t word_count =
      1 + static_cast<size_t>(std::count(counts.key.begin(), counts.key.end(), ' '));
  const uint32_t document_count = phrase.document_count();
  const bool is_title = counts.title.count > 0;
  const uint16_t flags = (is_title ? kPhraseIsTitle : 0) | (use.is_name ? kPhraseIsName : 0);
  std::string bytes;
  PutVarint(document_count, &bytes);
  const uint64_t worth = (is_title ? TitleWorth(counts.title.rank) : 0) +
                         (use.is_name ? NameWorth(counts.name.rank) : 0) +
                         QueryWorth(use.asked_count);
  PutVarint(PhraseWeight(document_count, worth, word_count), &bytes);
  PutVarint(flags, &bytes);
  PutVarint(counts.key.size(), &bytes);
  bytes += counts.key;
  const std::string_view shown = display == counts.key ? std::string_view() : display;
  PutVarint(shown.size(), &bytes);
  bytes += shown;
  file->Append(bytes);
}

// Reads the output of PutChosen; the views refer to `bytes`.
StatusOr<std::vector<ChosenPhrase>> ReadChosen(std::string_view bytes) {
  std::vector<ChosenPhrase> phrases;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  const auto number = [&] {
    uint64_t value = 0;
    if (!GetVarint(&at, end, &value)) at = end + 1;
    return value;
  };
  const auto text = [&](std::string_view* out) {
    const uint64_t size = number();
    if (at > end || size > static_cast<uint64_t>(end - at)) {
      at = end + 1;
      return;
    }
    *out = {at, size};
    at += size;
  };
  while (at < end) {
    ChosenPhrase& phrase = phrases.emplace_back();
    phrase.record.document_count = static_cast<uint32_t>(number());
    if (at <= end) phrase.record.weight = static_cast<uint16_t>(number());
    if (at <= end) phrase.record.flags = static_cast<uint16_t>(number());
    if (at <= end) text(&phrase.key);
    if (at <= end) text(&phrase.display);
  }
  if (at != end) return neptune::DataLoss("a temporary file of the suggestions is damaged");
  return phrases;
}

// Writes the file of one partition from its phrases in ascending order of key.
class PartitionFile {
 public:
  PartitionFile(std::span<const ChosenPhrase> phrases, SuggestionTotals totals)
      : phrases_(phrases), totals_(totals) {}

  Status Write(const std::string& path) {
    NEPTUNE_ASSIGN_OR_RETURN(file_, SectionFileWriter::Create(path, kSuggestionsKind));
    WritePhrases();
    WriteEntries();
    totals_.phrase_count = phrases_.size();
    Append(kSuggestionTotalsSection, std::span<const SuggestionTotals>(&totals_, 1));
    return file_->Finish().status();
  }

 private:
  struct Entry {
    uint64_t text_head = 0;  // orders like the text, as far as it goes
    uint32_t phrase = 0;
    uint8_t start = 0;
    uint16_t weight = 0;
  };

  template <typename T>
  void Append(SuggestionSection section, std::span<const T> values) {
    file_->BeginSection(section);
    file_->AppendArray(values);
  }

  void WritePhrases() {
    std::vector<uint32_t> offsets = {0};
    std::vector<PhraseRecord> records;
    file_->BeginSection(kTextsSection);
    for (const ChosenPhrase& phrase : phrases_) {
      file_->Append(phrase.key);
      file_->Append(phrase.display);
      const auto key_end = offsets.back() + static_cast<uint32_t>(phrase.key.size());
      offsets.push_back(key_end);
      offsets.push_back(key_end + static_cast<uint32_t>(phrase.display.size()));
      records.push_back(phrase.record);
    }
    Append(kTextOffsetsSection, std::span<const uint32_t>(offsets));
    Append(kPhraseRecordsSection, std::span<const PhraseRecord>(records));
  }

  void AddEntries(uint32_t number, std::vector<Entry>* entries) const {
    const ChosenPhrase& phrase = phrases_[number];
    const uint16_t weight = phrase.record.weight;
    entries->push_back({KeyHead(phrase.key), number, 0, weight});
    const uint16_t later = weight > kLaterWordCost ? weight - kLaterWordCost : 0;
    size_t starts = 0;
    for (size_t blank = phrase.key.find(' ');
         blank != std::string_view::npos && starts < kStartsMax;
         blank = phrase.key.find(' ', blank + 1)) {
      const std::string_view rest = phrase.key.substr(blank + 1);
      if (IsFunctionWord(rest.substr(0, rest.find(' ')))) continue;
      entries->push_back({KeyHead(rest), number, static_cast<uint8_t>(blank + 1), later});
      ++starts;
    }
  }

  void WriteEntries() {
    std::vector<Entry> entries;
    for (uint32_t i = 0; i < phrases_.size(); ++i) AddEntries(i, &entries);
    const auto text = [&](const Entry& entry) {
      return phrases_[entry.phrase].key.substr(entry.start);
    };
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      if (a.text_head != b.text_head) return a.text_head < b.text_head;
      const int order = text(a).compare(text(b));
      if (order != 0) return order < 0;
      return std::pair(a.phrase, a.start) < std::pair(b.phrase, b.start);
    });
    std::vector<uint32_t> numbers;
    std::vector<uint8_t> starts;
    std::vector<uint16_t> weights;
    for (const Entry& entry : entries) {
      numbers.push_back(entry.phrase);
      starts.push_back(entry.start);
      weights.push_back(entry.weight);
    }
    totals_.entry_count = entries.size();
    Append(kEntryPhrasesSection, std::span<const uint32_t>(numbers));
    Append(kEntryStartsSection, std::span<const uint8_t>(starts));
    const std::vector<uint16_t> levels = RangeMax::WithLevels(std::move(weights));
    Append(kEntryWeightsSection, std::span<const uint16_t>(levels));
  }

  const std::span<const ChosenPhrase> phrases_;
  SuggestionTotals totals_;
  std::unique_ptr<SectionFileWriter> file_;
};

std::string WorkingPath(const std::string& directory) {
  return neptune::StrCat(directory, "/", kSuggestionsFileName, ".part");
}

// Words of one document only are more often errors than what is meant, unless a title has them.
void AddToDictionary(const MergedPhrase& phrase, std::string_view display,
                     DictionaryBuilder* dictionary) {
  const uint32_t document_count = phrase.document_count();
  const std::string& key = phrase.counts.key;
  if (!phrase.is_word()) {
    dictionary->AddPhrase(key, document_count);
    return;
  }
  const bool is_ascii = std::all_of(display.begin(), display.end(),
                                    [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  std::string shown;
  AppendLowerCase(is_ascii ? key : display, &shown);
  const bool is_of_title = phrase.counts.is_title_word || phrase.counts.title.count > 0;
  dictionary->AddWord({.folded = key,
                       .shown = shown,
                       .document_count = document_count,
                       .may_be_meant = document_count > 1 || is_of_title});
}

// Writes each partition's chosen phrases to its working file, and adds them to the dictionary.
class ChosenFiles {
 public:
  explicit ChosenFiles(DictionaryBuilder* dictionary) : dictionary_(dictionary) {}

  Status Create(const std::vector<std::string>& directories) {
    for (const std::string& directory : directories) {
      files_.push_back(std::make_unique<FileAppender>());
      NEPTUNE_RETURN_IF_ERROR(files_.back()->Create(WorkingPath(directory)));
    }
    return neptune::OkStatus();
  }

  Status WriteAll(const Readers& readers, const Thresholds& thresholds, QueryPhrases* queries) {
    NEPTUNE_RETURN_IF_ERROR(ForEachPhrase(readers, [&](const MergedPhrase& phrase) {
      while (const auto query = queries->TakeBefore(phrase.counts.key)) PutQuery(*query);
      const auto query = queries->Take(phrase.counts.key);
      if (query || thresholds.Keeps(phrase)) PutPhrase(phrase, thresholds, query);
      return neptune::OkStatus();
    }));
    while (const auto query = queries->TakeNext()) PutQuery(*query);
    for (const auto& file : files_) NEPTUNE_RETURN_IF_ERROR(file->Close(/*durable=*/false));
    return neptune::OkStatus();
  }

 private:
  void Put(const MergedPhrase& phrase, const PhraseUse& use, std::string_view display) {
    for (const size_t holder : phrase.holders)
      PutChosen(phrase, use, display, files_[holder].get());
  }

  // Documents that name the phrase show how it is written better than those who asked for it.
  void PutPhrase(const MergedPhrase& phrase, const Thresholds& thresholds,
                 const std::optional<QueryPhrase>& query) {
    const std::string display = DisplayText(phrase.counts);
    if (display.empty()) return;
    Put(phrase, {.is_name = thresholds.KeepsName(phrase), .asked_count = query ? query->count : 0},
        display);
    AddToDictionary(phrase, display, dictionary_);
  }

  void PutQuery(const QueryPhrase& query) {
    MergedPhrase phrase;
    phrase.counts.key = query.key;
    phrase.holders = query.holders;
    Put(phrase, {.asked_count = query.count}, query.text);
  }

  DictionaryBuilder* const dictionary_;
  std::vector<std::unique_ptr<FileAppender>> files_;
};

Status WritePartition(const std::string& directory, const SuggestionTotals& totals) {
  std::ifstream in(WorkingPath(directory), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) return neptune::Unavailable("cannot read ", WorkingPath(directory));
  NEPTUNE_ASSIGN_OR_RETURN(const auto phrases, ReadChosen(bytes));
  return PartitionFile(phrases, totals)
      .Write(neptune::StrCat(directory, "/", kSuggestionsFileName));
}

// Writes all partitions, several concurrently; returns the first error.
Status WritePartitions(const std::vector<std::string>& directories, const SuggestionTotals& totals,
                       int thread_count) {
  std::vector<Status> statuses(directories.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < directories.size(); i = next++) {
      statuses[i] = WritePartition(directories[i], totals);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < thread_count; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  for (const Status& status : statuses) NEPTUNE_RETURN_IF_ERROR(status);
  return neptune::OkStatus();
}

}  // namespace

Status FinishSuggestions(const std::vector<std::string>& directories,
                         const SuggestionWriterOptions& options) {
  Readers readers;
  SuggestionTotals totals;
  for (const std::string& directory : directories) {
    NEPTUNE_ASSIGN_OR_RETURN(auto reader, PhraseCountsReader::Open(directory));
    totals.collection_document_count += reader->totals().document_count;
    totals.count_error_max += reader->totals().count_error_max;
    readers.push_back(std::move(reader));
  }
  QueryPhrases queries(options.queries);
  NEPTUNE_ASSIGN_OR_RETURN(const Thresholds thresholds,
                           ChooseThresholds(readers, options.limits, &queries));
  DictionaryBuilder dictionary;
  ChosenFiles chosen(&dictionary);
  Status status = chosen.Create(directories);
  if (status.ok()) status = chosen.WriteAll(readers, thresholds, &queries);
  if (status.ok()) status = WritePartitions(directories, totals, options.thread_count);
  if (status.ok()) {
    const size_t copies = std::min(options.dictionary_copies, directories.size());
    status = dictionary.Write({directories.begin(), directories.begin() + ptrdiff_t(copies)},
                              totals.collection_document_count, totals.count_error_max);
  }
  for (const std::string& directory : directories) ::unlink(WorkingPath(directory).c_str());
  return status;
}

}  // namespace search::index
