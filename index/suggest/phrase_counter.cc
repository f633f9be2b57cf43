#include "index/suggest/phrase_counter.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "index/core/analysis/word_scanner.h"
#include "index/core/segment/term_dictionary.h"
#include "index/suggest/phrase_counts.h"
#include "index/suggest/phrase_text.h"

namespace search::index {
namespace {

constexpr uint32_t kNoWord = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kNoDocument = std::numeric_limits<uint32_t>::max();
constexpr size_t kSequenceWords = 3;
// Maximum size of a counted word. People do not type longer ones; they end a sequence.
constexpr size_t kWordSizeMax = 40;
constexpr size_t kNameSizeMax = 120;

struct Counter {
  uint32_t document_count = 0;
  uint32_t last_document = kNoDocument;

  void CountOnce(uint32_t document) {
    if (last_document == document) return;
    last_document = document;
    ++document_count;
  }
};

struct Word {
  Counter counter;
  bool may_begin = false;  // whether a sequence may begin with it
  bool may_end = false;
  bool is_in_title = false;
};

// Numbers of words by their text. Most words have at most kShortSize bytes and are part of their
// entry, so that finding one costs one cache miss, which can be prefetched.
class WordNumbers {
 public:
  static constexpr size_t kShortSize = 16;

  // A short word, its end filled with zeros.
  using Short = std::array<uint64_t, 2>;
  struct Entry {
    Short word = {};
    uint32_t number = kNoWord;
    uint32_t last_document = kNoDocument;  // in which it was counted
  };

  // REQUIRES: at most kShortSize bytes.
  static Short ToShort(std::string_view text) {
    Short word = {};
    std::memcpy(word.data(), text.data(), text.size());
    return word;
  }

  // The comparison of arrays would call memcmp.
  static bool AreEqual(const Short& a, const Short& b) {
    return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
  }

  size_t size() const { return short_count_ + long_numbers_.size(); }

  // The entry of the word, or where it is to be added: number is kNoWord.
  Entry& At(const Short& word) {
    size_t at = HomeOf(word);
    while (entries_[at].number != kNoWord && !AreEqual(entries_[at].word, word)) {
      at = (at + 1) & mask();
    }
    return entries_[at];
  }
  void Prefetch(const Short& word) const { __builtin_prefetch(&entries_[HomeOf(word)]); }

  uint32_t Find(std::string_view text) {
    if (text.size() <= kShortSize) return At(ToShort(text)).number;
    const auto found = long_numbers_.find(text);
    return found == long_numbers_.end() ? kNoWord : found->second;
  }
  // REQUIRES: the word is not known; `text` stays where it is.
  void Add(std::string_view text, uint32_t number) {
    if (text.size() > kShortSize) {
      long_numbers_.emplace(text, number);
      return;
    }
    if (2 * ++short_count_ > entries_.size()) Rebuild(2 * entries_.size(), {});
    At(ToShort(text)) = {.word = ToShort(text), .number = number};
  }
  // Removes the words whose numbers are marked.
  void Remove(const std::vector<bool>& is_removed) {
    absl::erase_if(long_numbers_, [&](const auto& entry) { return is_removed[entry.second]; });
    Rebuild(entries_.size(), is_removed);
  }

 private:
  size_t mask() const { return entries_.size() - 1; }
  size_t HomeOf(const Short& word) const {
    const uint64_t mixed = (word[0] ^ std::rotl(word[1], 23)) * 0x9E3779B97F4A7C15;
    return (mixed ^ mixed >> 32) & mask();
  }
  void Rebuild(size_t size, const std::vector<bool>& is_removed) {
    const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(size));
    short_count_ = 0;
    for (const Entry& entry : old) {
      if (entry.number == kNoWord || (!is_removed.empty() && is_removed[entry.number])) continue;
      At(entry.word) = entry;
      ++short_count_;
    }
  }

  std::vector<Entry> entries_ = std::vector<Entry>(size_t{1} << 14);  // a power of two
  size_t short_count_ = 0;
  absl::flat_hash_map<std::string_view, uint32_t> long_numbers_;
};

// A word of the text that is being added.
struct ScannedWord {
  WordNumbers::Short word = {};
  uint32_t number = kNoWord;  // of a word that is counted already
  bool is_short = false;      // to be found and counted
  bool is_joined = false;     // to the word before
};

// Numbers of words; kNoWord in unused places.
using Sequence = std::array<uint32_t, kSequenceWords>;

struct SequenceHash {
  size_t operator()(const Sequence& sequence) const {
    return XXH3_64bits(sequence.data(), sizeof(sequence));
  }
};

struct Name {
  NamedDocuments documents;
  uint32_t last_document = kNoDocument;
};

bool HasLetter(std::string_view folded) {
  return std::any_of(folded.begin(), folded.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || static_cast<uint8_t>(c) >= 0x80;
  });
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

// `3.5. Window Functions` without its number.
std::string_view WithoutSectionNumber(std::string_view text) {
  const size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const bool is_number = end > 1 && text[0] != '.' && text[end - 1] == '.';
  return is_number && text.substr(end, 1) == " " ? text.substr(end + 1) : text;
}

// True for several words, and for identifiers (`std::hash`); not for names of files and addresses.
bool MayBeName(std::string_view text) {
  return text.find(' ') != std::string_view::npos ||
         text.find_first_of("./#?&%@") == std::string_view::npos;
}

uint32_t RankOf(const IndexedDocument& document) {
  return static_cast<uint32_t>(std::lround(document.static_rank * kRankUnits));
}

// The key of a title or name that may be suggested; empty if it is too long or has too few words.
std::string KeyOfName(std::string_view text, size_t word_count_min) {
  if (text.empty() || text.size() > kNameSizeMax) return {};
  const std::vector<FoldedWord> words = FoldWords(text, kPhraseWordsMax + 1);
  if (words.size() < word_count_min || words.size() > kPhraseWordsMax) return {};
  const bool has_name = std::any_of(words.begin(), words.end(), [](const FoldedWord& word) {
    return HasLetter(word.text) && !IsFunctionWord(word.text);
  });
  std::string key = PhraseKey(words);
  if (key.size() > kPhraseKeySizeMax || (word_count_min > 1 && !has_name)) key.clear();
  return key;
}

// Phrases to be written, with their keys.
class PhraseItems {
 public:
  enum class Kind : uint8_t { kWord, kSequence, kTitle, kName };
  struct Item {
    uint64_t key_head = 0;
    uint32_t key_at = 0;
    uint32_t index = 0;  // among those of its kind
    uint16_t key_size = 0;
    Kind kind = Kind::kWord;
  };

  // Leaves out keys that are empty or too long.
  void Add(std::string_view key, Kind kind, size_t index) {
    if (key.empty() || key.size() > kPhraseKeySizeMax) return;
    items_.push_back({.key_head = KeyHead(key),
                      .key_at = static_cast<uint32_t>(keys_.size()),
                      .index = static_cast<uint32_t>(index),
                      .key_size = static_cast<uint16_t>(key.size()),
                      .kind = kind});
    keys_ += key;
  }
  // Ascending by key; the order of equal keys is not determined.
  void Sort() {
    std::sort(items_.begin(), items_.end(), [this](const Item& a, const Item& b) {
      return a.key_head != b.key_head ? a.key_head < b.key_head : KeyOf(a) < KeyOf(b);
    });
  }

  const std::vector<Item>& all() const { return items_; }
  std::string_view KeyOf(const Item& item) const {
    return std::string_view(keys_).substr(item.key_at, item.key_size);
  }

 private:
  std::string keys_;
  std::vector<Item> items_;
};

std::string SurfaceOf(const Sequence& sequence, const std::deque<std::string>& surfaces) {
  std::string surface = surfaces[sequence[0]];
  for (size_t i = 1; i < kSequenceWords && sequence[i] != kNoWord; ++i) {
    surface += ' ';
    surface += surfaces[sequence[i]];
  }
  return surface;
}

// Drops the entries with at most `floor` documents.
template <typename Counters>
void ForgetRare(uint32_t floor, Counters* counters) {
  absl::erase_if(*counters,
                 [floor](const auto& entry) { return entry.second.document_count <= floor; });
}

// True if the text between two words joins them.
bool IsJoint(std::string_view gap) { return gap == " " || gap == "-"; }

}  // namespace

class PhraseCounter::Rep {
 public:
  explicit Rep(const PhraseCounterOptions& options) : options_(options) {}

  void Add(const IndexedDocument& document, std::string_view headings) {
    AddTitle(document);
    AddText(Field::kTitle, document.title, kEverything);
    AddText(Field::kExtra, document.extra_text, kEverything);
    AddText(Field::kBody, document.body, options_.window);
    AddNames(document, document.extra_text);
    AddNames(document, headings);
    ++document_count_;
    if (word_numbers_.size() > options_.word_count_max) PruneWords();
    if (sequences_.size() > options_.sequence_count_max) PruneSequences();
    if (titles_.size() > options_.title_count_max) PruneTitles();
    if (names_.size() > options_.name_count_max) PruneNames();
  }

  neptune::Status Finish(const std::string& directory);

 private:
  static constexpr uint32_t kEverything = std::numeric_limits<uint32_t>::max();

  using Kind = PhraseItems::Kind;

  void AddTitle(const IndexedDocument& document);
  void AddNames(const IndexedDocument& document, std::string_view lines);
  void AddName(const IndexedDocument& document, const std::string& text);
  bool HasAllWordsOf(std::string_view text);
  void AddText(Field field, std::string_view text, uint32_t window);
  void ScanWords(std::string_view text);
  ScannedWord Scanned(const WordScanner& scanner, std::string_view source);
  uint32_t CountShort(const WordNumbers::Short& word);
  uint32_t AddWord(std::string_view surface, std::string_view folded);
  void NoteSequences(const Sequence& last, size_t chain);
  void CountSequences();
  void PruneWords();
  void PruneSequences();
  void PruneTitles();
  void PruneNames();
  void GatherWords();
  void GatherSequences();
  void GatherItems();
  void AddTo(const PhraseItems::Item& item, PhraseCounts* phrase) const;

  const PhraseCounterOptions options_;
  uint32_t document_count_ = 0;
  uint64_t error_max_ = 0;
  uint32_t rank_min_ = 0;  // lowest rank of titles that are accepted

  std::vector<Word> words_;
  // Surfaces of the words; word_numbers_ refers to long ones, so they must not move.
  std::deque<std::string> surfaces_;
  std::vector<uint32_t> free_words_;
  WordNumbers word_numbers_;
  absl::flat_hash_map<Sequence, Counter, SequenceHash> sequences_;
  absl::flat_hash_map<std::string, NamedDocuments> titles_;  // by key
  absl::flat_hash_map<std::string, Name> names_;             // by key
  std::string lower_;
  // Those of the text that is being added.
  std::vector<ScannedWord> scanned_;
  std::vector<Sequence> noted_sequences_;

  // Used by Finish.
  std::vector<std::string_view> folded_;  // by word; empty if its surface is not a single word
  std::deque<std::string> folded_texts_;
  PhraseItems items_;
  std::vector<std::pair<Sequence, uint32_t>> kept_sequences_;
  std::vector<const NamedDocuments*> kept_titles_;
  std::vector<const NamedDocuments*> kept_names_;
};

void PhraseCounter::Rep::AddTitle(const IndexedDocument& document) {
  const std::string text(WithoutSectionNumber(TrimmedText(document.title)));
  const std::string key = KeyOfName(text, /*word_count_min=*/1);
  const uint32_t rank = RankOf(document);
  if (key.empty() || (rank < rank_min_ && !titles_.contains(key))) return;
  titles_[key].Add({.count = 1, .rank = rank, .doc_id = document.doc_id, .text = text});
}

void PhraseCounter::Rep::AddNames(const IndexedDocument& document, std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    AddName(document, std::string(WithoutSectionNumber(TrimmedText(line))));
  }
}

void PhraseCounter::Rep::AddName(const IndexedDocument& document, const std::string& text) {
  const std::string key = KeyOfName(text, /*word_count_min=*/2);
  if (key.empty() || !MayBeName(text) || !HasAllWordsOf(text)) return;
  Name& name = names_[key];
  if (name.last_document == document_count_) return;
  name.last_document = document_count_;
  name.documents.Add(
      {.count = 1, .rank = RankOf(document), .doc_id = document.doc_id, .text = text});
}

// True if the document that is being added has all words of the text.
bool PhraseCounter::Rep::HasAllWordsOf(std::string_view text) {
  WordScanner scanner(text);
  while (scanner.Next()) {
    lower_.clear();
    AppendLowerCase(text.substr(scanner.begin_byte(), scanner.end_byte() - scanner.begin_byte()),
                    &lower_);
    const uint32_t number = lower_.empty() ? kNoWord : word_numbers_.Find(lower_);
    if (number == kNoWord) return false;
    if (words_[number].counter.last_document != document_count_) return false;
  }
  return true;
}

// Words are scanned first, so that their entries and then their counters can be prefetched: nearly
// every access is a cache miss. Measured: twice these distances differ by less than the noise, and
// so does a further table of the most frequent words.
void PhraseCounter::Rep::AddText(Field field, std::string_view text, uint32_t window) {
  constexpr size_t kEntryDistance = 24;
  constexpr size_t kCounterDistance = 12;
  ScanWords(text);
  Sequence last = {kNoWord, kNoWord, kNoWord};  // the most recent word is last
  size_t chain = 0;                             // words that follow each other directly
  const size_t count = scanned_.size();
  for (size_t i = 0; i < count; ++i) {
    if (i + kEntryDistance < count) word_numbers_.Prefetch(scanned_[i + kEntryDistance].word);
    if (i + kCounterDistance < count && scanned_[i + kCounterDistance].is_short) {
      const WordNumbers::Entry& entry = word_numbers_.At(scanned_[i + kCounterDistance].word);
      const bool is_new = entry.last_document != document_count_ && entry.number != kNoWord;
      if (is_new) __builtin_prefetch(&words_[entry.number], /*rw=*/1);
    }
    const ScannedWord& scanned = scanned_[i];
    const uint32_t word = scanned.is_short ? CountShort(scanned.word) : scanned.number;
    if (field == Field::kTitle && word != kNoWord) words_[word].is_in_title = true;
    if (i >= window) continue;
    const bool is_joined = chain > 0 && scanned.is_joined;
    chain = word == kNoWord ? 0 : is_joined ? std::min(chain + 1, kSequenceWords) : 1;
    last = {last[1], last[2], word};
    if (chain >= 2) NoteSequences(last, chain);
  }
  CountSequences();
}

void PhraseCounter::Rep::ScanWords(std::string_view text) {
  scanned_.clear();
  WordScanner scanner(text);
  size_t end = 0;
  while (scanner.Next()) {
    scanned_.push_back(Scanned(scanner, text));
    scanned_.back().is_joined = IsJoint(text.substr(end, scanner.begin_byte() - end));
    end = scanner.end_byte();
  }
}

// Counts the scanner's word unless it is short.
ScannedWord PhraseCounter::Rep::Scanned(const WordScanner& scanner, std::string_view source) {
  const std::string_view folded(scanner.word(), scanner.word_size());
  if (folded.size() > kWordSizeMax) return {};
  const std::string_view typed =
      source.substr(scanner.begin_byte(), scanner.end_byte() - scanner.begin_byte());
  std::string_view surface = folded;
  if (IsAscii(typed)) {
    if (folded.size() <= WordNumbers::kShortSize) {
      ScannedWord scanned = {.is_short = true};
      std::memcpy(scanned.word.data(), scanner.word(), WordNumbers::kShortSize);
      return scanned;
    }
  } else {
    lower_.clear();
    AppendLowerCase(typed, &lower_);
    if (lower_.size() > 2 * kWordSizeMax || lower_.empty()) return {};
    surface = lower_;
  }
  uint32_t number = word_numbers_.Find(surface);
  if (number == kNoWord) number = AddWord(surface, folded);
  words_[number].counter.CountOnce(document_count_);
  return {.number = number};
}

uint32_t PhraseCounter::Rep::CountShort(const WordNumbers::Short& word) {
  WordNumbers::Entry* entry = &word_numbers_.At(word);
  if (entry->number == kNoWord) {
    const char* const bytes = reinterpret_cast<const char*>(word.data());
    const std::string text(bytes, strnlen(bytes, WordNumbers::kShortSize));
    AddWord(text, text);
    entry = &word_numbers_.At(word);
  }
  if (entry->last_document != document_count_) {
    entry->last_document = document_count_;
    words_[entry->number].counter.CountOnce(document_count_);
  }
  return entry->number;
}

uint32_t PhraseCounter::Rep::AddWord(std::string_view surface, std::string_view folded) {
  uint32_t number = static_cast<uint32_t>(words_.size());
  if (free_words_.empty()) {
    words_.emplace_back();
    surfaces_.emplace_back();
  } else {
    number = free_words_.back();
    free_words_.pop_back();
  }
  surfaces_[number] = surface;
  Word& word = words_[number];
  word = {};
  word.may_end = !IsFunctionWord(folded) && (folded.size() > 1 || !HasLetter(folded));
  word.may_begin = word.may_end && HasLetter(folded);
  word_numbers_.Add(surfaces_[number], number);
  return number;
}

void PhraseCounter::Rep::NoteSequences(const Sequence& last, size_t chain) {
  if (!words_[last[2]].may_end) return;
  if (words_[last[1]].may_begin) noted_sequences_.push_back({last[1], last[2], kNoWord});
  if (chain == kSequenceWords && words_[last[0]].may_begin) noted_sequences_.push_back(last);
}

// Nearly every access to the table is a cache miss, so it is prefetched some sequences ahead.
void PhraseCounter::Rep::CountSequences() {
  constexpr size_t kDistance = 12;
  const size_t count = noted_sequences_.size();
  for (size_t i = 0; i < std::min(count, kDistance); ++i) sequences_.prefetch(noted_sequences_[i]);
  for (size_t i = 0; i < count; ++i) {
    if (i + kDistance < count) sequences_.prefetch(noted_sequences_[i + kDistance]);
    sequences_[noted_sequences_[i]].CountOnce(document_count_);
  }
  noted_sequences_.clear();
}

// Halves the table of sequences by dropping those with the fewest documents.
void PhraseCounter::Rep::PruneSequences() {
  uint32_t floor = 0;
  do {
    ForgetRare(++floor, &sequences_);
  } while (sequences_.size() > options_.sequence_count_max / 2);
  error_max_ += floor;
}

// Halves the table of words the same way. Also drops the sequences that may contain dropped words,
// which are no more frequent.
void PhraseCounter::Rep::PruneWords() {
  uint32_t floor = 0;
  std::vector<bool> is_removed(words_.size());
  size_t kept = word_numbers_.size();
  do {
    ++floor;
    for (uint32_t number = 0; number < words_.size(); ++number) {
      const bool is_used = !surfaces_[number].empty() && !is_removed[number];
      if (!is_used || words_[number].counter.document_count > floor) continue;
      is_removed[number] = true;
      --kept;
    }
  } while (kept > options_.word_count_max / 2);
  word_numbers_.Remove(is_removed);
  for (uint32_t number = 0; number < words_.size(); ++number) {
    if (!is_removed[number]) continue;
    surfaces_[number].clear();
    free_words_.push_back(number);
  }
  ForgetRare(floor, &sequences_);
  error_max_ += floor;
}

// Keeps the better half. Titles that come later have larger numbers, so of the worst kept rank none
// is better than those kept.
void PhraseCounter::Rep::PruneTitles() {
  using Place = std::pair<uint32_t, uint64_t>;  // smaller is better
  const auto place = [](const NamedDocuments& title) {
    return Place(kRankUnits - std::min(title.rank, kRankUnits), title.doc_id);
  };
  std::vector<Place> places;
  places.reserve(titles_.size());
  for (const auto& [key, title] : titles_) places.push_back(place(title));
  const auto worst = places.begin() + static_cast<ptrdiff_t>(places.size() / 2);
  std::nth_element(places.begin(), worst, places.end());
  absl::erase_if(titles_, [&](const auto& entry) { return place(entry.second) > *worst; });
  rank_min_ = kRankUnits - worst->first + 1;
}

// Drops the names of the fewest documents until at most half of the limit are left.
void PhraseCounter::Rep::PruneNames() {
  for (uint32_t floor = 1; names_.size() > options_.name_count_max / 2; ++floor) {
    absl::erase_if(names_,
                   [floor](const auto& entry) { return entry.second.documents.count <= floor; });
  }
}

void PhraseCounter::Rep::GatherWords() {
  folded_.resize(words_.size());
  for (size_t i = 0; i < words_.size(); ++i) {
    WordScanner scanner(surfaces_[i]);
    if (!scanner.Next()) continue;
    const std::string_view word(scanner.word(), scanner.word_size());
    // Most words are written as they are folded.
    if (word == surfaces_[i]) {
      folded_[i] = surfaces_[i];
    } else {
      folded_[i] = folded_texts_.emplace_back(word);
    }
    if (scanner.Next()) folded_[i] = {};
    const bool is_name = folded_[i].size() > 1 && HasLetter(folded_[i]);
    if (is_name) items_.Add(folded_[i], Kind::kWord, i);
  }
}

void PhraseCounter::Rep::GatherSequences() {
  std::string key;
  kept_sequences_.reserve(sequences_.size());
  for (const auto& [sequence, counter] : sequences_) {
    key.clear();
    for (size_t i = 0; i < kSequenceWords && sequence[i] != kNoWord; ++i) {
      if (folded_[sequence[i]].empty()) {
        key.clear();
        break;
      }
      if (i > 0) key += ' ';
      key += folded_[sequence[i]];
    }
    items_.Add(key, Kind::kSequence, kept_sequences_.size());
    kept_sequences_.emplace_back(sequence, counter.document_count);
  }
}

void PhraseCounter::Rep::GatherItems() {
  GatherWords();
  GatherSequences();
  for (const auto& [key, title] : titles_) {
    items_.Add(key, Kind::kTitle, kept_titles_.size());
    kept_titles_.push_back(&title);
  }
  for (const auto& [key, name] : names_) {
    items_.Add(key, Kind::kName, kept_names_.size());
    kept_names_.push_back(&name.documents);
  }
  items_.Sort();
}

void PhraseCounter::Rep::AddTo(const PhraseItems::Item& item, PhraseCounts* phrase) const {
  switch (item.kind) {
    case Kind::kWord:
      phrase->variants.push_back(
          {surfaces_[item.index], words_[item.index].counter.document_count});
      phrase->is_title_word |= words_[item.index].is_in_title;
      return;
    case Kind::kSequence: {
      const auto& [sequence, document_count] = kept_sequences_[item.index];
      phrase->variants.push_back({SurfaceOf(sequence, surfaces_), document_count});
      return;
    }
    case Kind::kTitle:
      phrase->title = *kept_titles_[item.index];
      return;
    case Kind::kName:
      phrase->name = *kept_names_[item.index];
      return;
  }
}

neptune::Status PhraseCounter::Rep::Finish(const std::string& directory) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto writer, PhraseCountsWriter::Create(directory));
  GatherItems();
  const std::vector<PhraseItems::Item>& items = items_.all();
  for (size_t i = 0; i < items.size();) {
    PhraseCounts phrase;
    phrase.key = items_.KeyOf(items[i]);
    for (; i < items.size() && items_.KeyOf(items[i]) == phrase.key; ++i) AddTo(items[i], &phrase);
    std::sort(phrase.variants.begin(), phrase.variants.end(),
              [](const auto& a, const auto& b) { return a.surface < b.surface; });
    writer->Add(phrase);
  }
  return writer->Finish(document_count_, error_max_);
}

PhraseCounter::PhraseCounter(const PhraseCounterOptions& options)
    : rep_(std::make_unique<Rep>(options)) {}
PhraseCounter::~PhraseCounter() = default;

void PhraseCounter::Add(const IndexedDocument& document, std::string_view headings) {
  rep_->Add(document, headings);
}
neptune::Status PhraseCounter::Finish(const std::string& directory) {
  return rep_->Finish(directory);
}

}  // namespace search::index
