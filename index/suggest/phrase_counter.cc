#include "index/suggest/phrase_counter.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "index/core/analysis/word_scanner.h"
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

// Cache of recent words, by their first 16 bytes; longer words are not cached.
class WordCache {
 public:
  static constexpr size_t kWordSizeMax = 16;

  struct Entry {
    std::array<uint64_t, 2> head = {};
    uint32_t number = kNoWord;
  };

  // The word's slot. REQUIRES: 16 readable bytes, of which those after the word are zero.
  Entry& At(const char* word, std::array<uint64_t, 2>* head) {
    std::memcpy(head->data(), word, kWordSizeMax);
    const uint64_t mixed = (*head)[0] * 0x9E3779B97F4A7C15 ^ (*head)[1] * 0xC2B2AE3D27D4EB4F;
    return entries_[mixed >> 52];
  }
  void Clear() { entries_.assign(entries_.size(), {}); }

 private:
  std::vector<Entry> entries_ = std::vector<Entry>(4096);
};

struct TextHash {
  size_t operator()(std::string_view text) const { return XXH3_64bits(text.data(), text.size()); }
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

  // A phrase to be written: its key in `keys_`, and the location of its counts.
  enum class Kind : uint8_t { kWord, kSequence, kTitle, kName };
  struct Item {
    uint32_t key_at = 0;
    uint16_t key_size = 0;
    Kind kind = Kind::kWord;
    uint32_t index = 0;
  };

  void AddTitle(const IndexedDocument& document);
  void AddNames(const IndexedDocument& document, std::string_view lines);
  void AddName(const IndexedDocument& document, const std::string& text);
  bool HasAllWordsOf(std::string_view text);
  void AddText(Field field, std::string_view text, uint32_t window);
  uint32_t CountWord(const WordScanner& scanner, std::string_view source);
  uint32_t FindWord(const WordScanner& scanner, std::string_view source);
  uint32_t FindOrAddWord(std::string_view surface, std::string_view folded);
  uint32_t AddWord(std::string_view surface, std::string_view folded);
  void CountSequences(const Sequence& last, size_t chain);
  void PruneWords();
  void PruneSequences();
  void ForgetSequences(uint32_t floor);
  void PruneTitles();
  void PruneNames();
  std::string Surface(const Sequence& sequence) const;
  void AddItem(const std::string& key, Kind kind, size_t index);
  void GatherItems();
  std::string_view KeyOf(const Item& item) const {
    return std::string_view(keys_).substr(item.key_at, item.key_size);
  }
  void AddTo(const Item& item, PhraseCounts* phrase) const;

  const PhraseCounterOptions options_;
  uint32_t document_count_ = 0;
  uint64_t error_max_ = 0;
  uint32_t rank_min_ = 0;  // lowest rank of titles that are accepted

  std::vector<Word> words_;
  // Surfaces of the words; word_numbers_ refers to them, so they must not move.
  std::deque<std::string> surfaces_;
  std::vector<uint32_t> free_words_;
  absl::flat_hash_map<std::string_view, uint32_t, TextHash, std::equal_to<>> word_numbers_;
  absl::flat_hash_map<Sequence, Counter, SequenceHash> sequences_;
  absl::flat_hash_map<std::string, NamedDocuments> titles_;  // by key
  absl::flat_hash_map<std::string, Name> names_;             // by key
  WordCache recent_;
  std::string lower_;

  // Used by Finish.
  std::string keys_;
  std::vector<Item> items_;
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
    const auto found = word_numbers_.find(lower_);
    if (found == word_numbers_.end()) return false;
    if (words_[found->second].counter.last_document != document_count_) return false;
  }
  return true;
}

void PhraseCounter::Rep::AddText(Field field, std::string_view text, uint32_t window) {
  WordScanner scanner(text);
  Sequence last = {kNoWord, kNoWord, kNoWord};  // the most recent word is last
  size_t chain = 0;                             // words that follow each other directly
  size_t end = 0;
  for (uint32_t position = 0; scanner.Next(); ++position) {
    const uint32_t word = CountWord(scanner, text);
    if (word != kNoWord) words_[word].is_in_title |= field == Field::kTitle;
    if (position >= window) continue;
    const bool is_joined = chain > 0 && IsJoint(text.substr(end, scanner.begin_byte() - end));
    chain = word == kNoWord ? 0 : is_joined ? std::min(chain + 1, kSequenceWords) : 1;
    last = {last[1], last[2], word};
    end = scanner.end_byte();
    if (chain >= 2) CountSequences(last, chain);
  }
}

// Counts the scanner's word and returns its number; kNoWord if it is not kept.
uint32_t PhraseCounter::Rep::CountWord(const WordScanner& scanner, std::string_view source) {
  const uint32_t number = FindWord(scanner, source);
  if (number != kNoWord) words_[number].counter.CountOnce(document_count_);
  return number;
}

uint32_t PhraseCounter::Rep::FindWord(const WordScanner& scanner, std::string_view source) {
  const std::string_view folded(scanner.word(), scanner.word_size());
  if (folded.size() > kWordSizeMax) return kNoWord;
  const std::string_view typed =
      source.substr(scanner.begin_byte(), scanner.end_byte() - scanner.begin_byte());
  if (!IsAscii(typed)) {
    lower_.clear();
    AppendLowerCase(typed, &lower_);
    if (lower_.size() > 2 * kWordSizeMax || lower_.empty()) return kNoWord;
    return FindOrAddWord(lower_, folded);
  }
  if (folded.size() > WordCache::kWordSizeMax) return FindOrAddWord(folded, folded);
  std::array<uint64_t, 2> head;
  WordCache::Entry& recent = recent_.At(scanner.word(), &head);
  if (recent.number == kNoWord || recent.head != head) {
    recent = {.head = head, .number = FindOrAddWord(folded, folded)};
  }
  return recent.number;
}

uint32_t PhraseCounter::Rep::FindOrAddWord(std::string_view surface, std::string_view folded) {
  const auto found = word_numbers_.find(surface);
  return found != word_numbers_.end() ? found->second : AddWord(surface, folded);
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
  word_numbers_.emplace(surfaces_[number], number);
  return number;
}

void PhraseCounter::Rep::CountSequences(const Sequence& last, size_t chain) {
  if (!words_[last[2]].may_end) return;
  if (words_[last[1]].may_begin) {
    sequences_[{last[1], last[2], kNoWord}].CountOnce(document_count_);
  }
  if (chain == kSequenceWords && words_[last[0]].may_begin) {
    sequences_[last].CountOnce(document_count_);
  }
}

// Halves the table of sequences by dropping those with the fewest documents.
void PhraseCounter::Rep::PruneSequences() {
  uint32_t floor = 0;
  do {
    ForgetSequences(++floor);
  } while (sequences_.size() > options_.sequence_count_max / 2);
  error_max_ += floor;
}

// Halves the table of words the same way. Also drops the sequences that may contain dropped words,
// which are no more frequent.
void PhraseCounter::Rep::PruneWords() {
  uint32_t floor = 0;
  do {
    ++floor;
    for (uint32_t number = 0; number < words_.size(); ++number) {
      if (surfaces_[number].empty() || words_[number].counter.document_count > floor) continue;
      word_numbers_.erase(surfaces_[number]);
      surfaces_[number].clear();
      free_words_.push_back(number);
    }
  } while (word_numbers_.size() > options_.word_count_max / 2);
  recent_.Clear();
  ForgetSequences(floor);
  error_max_ += floor;
}

void PhraseCounter::Rep::ForgetSequences(uint32_t floor) {
  absl::erase_if(sequences_,
                 [floor](const auto& entry) { return entry.second.document_count <= floor; });
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

std::string PhraseCounter::Rep::Surface(const Sequence& sequence) const {
  std::string surface = surfaces_[sequence[0]];
  for (size_t i = 1; i < kSequenceWords && sequence[i] != kNoWord; ++i) {
    surface += ' ';
    surface += surfaces_[sequence[i]];
  }
  return surface;
}

void PhraseCounter::Rep::AddItem(const std::string& key, Kind kind, size_t index) {
  if (key.empty() || key.size() > kPhraseKeySizeMax) return;
  items_.push_back({.key_at = static_cast<uint32_t>(keys_.size()),
                    .key_size = static_cast<uint16_t>(key.size()),
                    .kind = kind,
                    .index = static_cast<uint32_t>(index)});
  keys_ += key;
}

void PhraseCounter::Rep::GatherItems() {
  std::vector<std::string> folded(words_.size());  // empty if the surface is not a single word
  for (size_t i = 0; i < words_.size(); ++i) {
    const auto again = FoldWords(surfaces_[i], 2);
    if (again.size() == 1) folded[i] = again[0].text;
    const bool is_name = folded[i].size() > 1 && HasLetter(folded[i]);
    if (is_name) AddItem(folded[i], Kind::kWord, i);
  }
  for (const auto& [sequence, counter] : sequences_) {
    std::string key;
    for (size_t i = 0; i < kSequenceWords && sequence[i] != kNoWord; ++i) {
      if (folded[sequence[i]].empty()) {
        key.clear();
        break;
      }
      key += (i == 0 ? "" : " ") + folded[sequence[i]];
    }
    AddItem(key, Kind::kSequence, kept_sequences_.size());
    kept_sequences_.emplace_back(sequence, counter.document_count);
  }
  for (const auto& [key, title] : titles_) {
    AddItem(key, Kind::kTitle, kept_titles_.size());
    kept_titles_.push_back(&title);
  }
  for (const auto& [key, name] : names_) {
    AddItem(key, Kind::kName, kept_names_.size());
    kept_names_.push_back(&name.documents);
  }
  std::sort(items_.begin(), items_.end(),
            [&](const Item& a, const Item& b) { return KeyOf(a) < KeyOf(b); });
}

void PhraseCounter::Rep::AddTo(const Item& item, PhraseCounts* phrase) const {
  switch (item.kind) {
    case Kind::kWord:
      phrase->variants.push_back(
          {surfaces_[item.index], words_[item.index].counter.document_count});
      phrase->is_title_word |= words_[item.index].is_in_title;
      return;
    case Kind::kSequence: {
      const auto& [sequence, document_count] = kept_sequences_[item.index];
      phrase->variants.push_back({Surface(sequence), document_count});
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
  for (size_t i = 0; i < items_.size();) {
    PhraseCounts phrase;
    phrase.key = KeyOf(items_[i]);
    for (; i < items_.size() && KeyOf(items_[i]) == phrase.key; ++i) AddTo(items_[i], &phrase);
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
