#include "index/suggest/spelling.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "index/suggest/close_words.h"
#include "index/suggest/phrase_weight.h"

namespace search::index {
namespace {

// True for fields whose values are not words of documents.
bool IsFilterName(std::string_view name) {
  return name == "site" || name == "url" || name == "lang" || name == "before" || name == "after";
}

// Costs of typing errors, chosen on words of Wikipedia titles with random errors (suggest_benchmark
// prints how many are corrected).
constexpr int64_t kEditCost = 6 * kBit;
constexpr int64_t kSecondEditCost = 7 * kBit;
constexpr int64_t kFirstLetterCost = 3 * kBit;
// Transposed neighbours and wrongly doubled letters are the most frequent typing errors.
constexpr int64_t kCommonSlipGain = 3 * kBit / 2;
constexpr int64_t kSplitCost = 5 * kBit;
constexpr int64_t kJoinCost = 5 * kBit;
// Cost of a word that occurs in no document; it may still be what was meant.
constexpr int64_t kUnknownCost = 12 * kBit;

bool IsBlankOnly(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || static_cast<uint8_t>(c) >= 0x80; }

size_t LetterCount(std::string_view folded) {
  return static_cast<size_t>(std::count_if(folded.begin(), folded.end(), [](char c) {
    return IsLetter(c) && (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  }));
}

// The word without its letters and apostrophes: what no correction changes.
std::string SignsOf(std::string_view folded) {
  std::string signs;
  for (const char c : folded) {
    if (!IsLetter(c) && c != '\'') signs += c;
  }
  return signs;
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

// True if the word is frequent enough that no correction could be likelier.
bool IsPlentiful(uint64_t document_count, uint64_t collection_document_count) {
  constexpr uint64_t kShare = 256;
  constexpr uint64_t kLeast = 50;
  return document_count >= std::max(kLeast, collection_document_count / kShare);
}

uint32_t DistanceMax(std::string_view folded) {
  if (LetterCount(folded) < 3) return 0;
  return CharacterCount(folded) < kTwoEditsMin ? 1 : 2;
}

std::string WithoutDoubles(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() || out.back() != c) out += c;
  }
  return out;
}

bool IsCommonSlip(std::string_view a, std::string_view b) {
  if (WithoutDoubles(a) == WithoutDoubles(b)) return true;
  std::string x(a);
  std::string y(b);
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  return x == y;
}

bool HasSameFirstLetter(std::string_view a, std::string_view b) {
  return a.substr(0, 1) == b.substr(0, 1);
}

// True if a word of `known_count` documents may be read as the other one.
bool MayMean(const SpelledWord& typed, uint32_t known_count, const OtherWord& other) {
  constexpr size_t kLongWord = 8;
  constexpr size_t kKnownWordMin = 6;
  constexpr uint64_t kFarMore = 64;
  const size_t size = CharacterCount(typed.folded);
  if (SignsOf(typed.folded) != SignsOf(other.folded)) return false;
  if (known_count > 0) {
    return size >= kKnownWordMin && other.distance == 1 && !typed.is_accented &&
           other.document_count / kFarMore >= known_count;
  }
  return other.distance == 1 || size >= kLongWord || HasSameFirstLetter(typed.folded, other.folded);
}

// True if hardly anything but the other word can have been meant.
bool IsSure(std::string_view typed, const OtherWord& other) {
  const size_t size = CharacterCount(typed);
  if (!HasSameFirstLetter(typed, other.folded)) return false;
  if (other.distance == 1) return size >= (IsCommonSlip(typed, other.folded) ? 4 : 5);
  return size >= 8;
}

// Cost of reading `typed` as the other word.
int64_t SlipCost(std::string_view typed, const OtherWord& other) {
  int64_t cost = kEditCost + (other.distance > 1 ? kSecondEditCost : 0);
  if (!HasSameFirstLetter(typed, other.folded)) cost += kFirstLetterCost;
  if (IsCommonSlip(typed, other.folded)) cost -= kCommonSlipGain;
  return cost;
}

// Keeps the best `count_max` distinct values by score, then text. Calls `score` once per value.
template <typename T, typename Score>
void KeepBest(size_t count_max, const Score& score, std::vector<T>* values) {
  std::vector<std::tuple<int64_t, std::string, size_t>> order;  // best first
  order.reserve(values->size());
  for (size_t i = 0; i < values->size(); ++i) {
    auto [bits, text] = score((*values)[i]);
    order.emplace_back(-bits, std::move(text), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<T> kept;
  for (const auto& [bits, text, i] : order) {
    if (kept.size() == count_max) break;
    if (kept.empty() || !((*values)[i] == kept.back())) kept.push_back(std::move((*values)[i]));
  }
  *values = std::move(kept);
}

void KeepBestOthers(std::string_view typed, std::vector<OtherWord>* others) {
  const auto score = [&](const OtherWord& other) {
    return std::pair(CountBits(other.document_count) - SlipCost(typed, other), other.folded);
  };
  KeepBest(kSpellingsPerWord, score, others);
}

// Splits whose halves are adjacent in documents come first.
void KeepBestSplits(std::vector<SplitWord>* splits) {
  constexpr int64_t kIsPairGain = 1000 * kBit;
  const auto score = [](const SplitWord& split) {
    const int64_t bits = split.pair_count > 0
                             ? kIsPairGain + CountBits(split.pair_count)
                             : CountBits(std::min(split.left_count, split.right_count));
    return std::pair(bits, split.left);
  };
  KeepBest(kSplitsPerWord, score, splits);
}

std::vector<OtherWord> FindOthers(const SpellingDictionary& dictionary, const SpelledWord& typed,
                                  uint32_t known_count) {
  std::vector<OtherWord> others;
  for (const CloseWord& close :
       FindCloseWords(dictionary, typed.folded, DistanceMax(typed.folded))) {
    if (close.distance == 0) continue;
    OtherWord other = {.folded = std::string(dictionary.word(close.word)),
                       .text = std::string(dictionary.shown(close.word)),
                       .document_count = dictionary.document_count(close.word),
                       .distance = close.distance};
    if (!MayMean(typed, known_count, other)) continue;
    if (typed.is_accented && IsAscii(other.text)) continue;
    others.push_back(std::move(other));
    // Bounds the number of candidates for any word.
    if (others.size() >= 64 * kSpellingsPerWord) KeepBestOthers(typed.folded, &others);
  }
  KeepBestOthers(typed.folded, &others);
  return others;
}

// Only of words without digits and signs.
std::vector<SplitWord> FindSplits(const SpellingDictionary& dictionary, std::string_view folded) {
  std::vector<SplitWord> splits;
  if (!SignsOf(folded).empty()) return splits;
  for (size_t at = 2; at + 2 <= folded.size(); ++at) {
    if ((static_cast<uint8_t>(folded[at]) & 0xC0) == 0x80) continue;
    const std::string_view left = folded.substr(0, at);
    const std::string_view right = folded.substr(at);
    const uint32_t left_count = dictionary.CountOf(left);
    const uint32_t right_count = left_count > 0 ? dictionary.CountOf(right) : 0;
    if (right_count == 0) continue;
    splits.push_back({.left = std::string(left),
                      .right = std::string(right),
                      .pair_count = dictionary.PairCount(left, right),
                      .left_count = left_count,
                      .right_count = right_count});
  }
  KeepBestSplits(&splits);
  return splits;
}

// The word itself and its replacements.
std::vector<std::string_view> Alternatives(const SpelledWord& word,
                                           const WordSpellings& spellings) {
  std::vector<std::string_view> all = {word.folded};
  for (const OtherWord& other : spellings.others) all.push_back(other.folded);
  return all;
}

WordSpellings SpellingsOf(const SpellingDictionary& dictionary, const SpelledWord& typed) {
  WordSpellings word;
  word.document_count = std::max(dictionary.CountOf(typed.folded), typed.is_known ? 1U : 0U);
  const uint64_t all = dictionary.totals().collection_document_count;
  if (!typed.may_change || IsPlentiful(word.document_count, all)) return word;
  word.others = FindOthers(dictionary, typed, word.document_count);
  if (word.document_count == 0) word.splits = FindSplits(dictionary, typed.folded);
  return word;
}

}  // namespace

std::vector<SpelledWord> WordsToSpell(std::string_view query) {
  std::vector<SpelledWord> words;
  size_t end = 0;
  bool after_site = false;
  bool is_last_fixed = true;
  for (FoldedWord& folded : FoldWords(query, kSpelledWordsMax + 1)) {
    const std::string_view gap = query.substr(end, folded.begin_byte - end);
    const std::string_view typed =
        query.substr(folded.begin_byte, folded.end_byte - folded.begin_byte);
    const std::string_view next = query.substr(folded.end_byte, 1);
    const bool is_field = next == ":" && (folded.text == "title" || IsFilterName(folded.text));
    after_site = (after_site && !gap.empty() && gap.find(' ') == std::string_view::npos) ||
                 (!words.empty() && IsFilterName(words.back().folded) && gap == ":");
    const bool is_operator = typed == "AND" || typed == "OR" || typed == "NOT" || typed == "NEAR";
    const bool is_excluded = gap.ends_with('-') && (gap.size() == 1 ? end == 0 : true);
    const bool is_fixed = is_field || after_site || is_operator || is_excluded || next == "*";
    words.push_back({.folded = std::move(folded.text),
                     .may_change = !is_fixed,
                     .may_join = !is_last_fixed && !is_fixed && !gap.empty() && IsBlankOnly(gap),
                     .is_accented = !IsAscii(typed),
                     .begin_byte = folded.begin_byte,
                     .end_byte = folded.end_byte});
    SpelledWord& word = words.back();
    word.may_change &= LetterCount(word.folded) >= 3;
    word.is_accented &= IsAscii(word.folded);
    is_last_fixed = is_fixed;
    end = word.end_byte;
  }
  if (words.size() > kSpelledWordsMax) words.clear();
  return words;
}

Spellings FindSpellings(const SpellingDictionary& dictionary,
                        const std::vector<SpelledWord>& words) {
  Spellings found;
  found.collection_document_count = dictionary.totals().collection_document_count;
  for (const SpelledWord& word : words) found.words.push_back(SpellingsOf(dictionary, word));
  for (uint32_t i = 0; i + 1 < words.size(); ++i) {
    const SpelledWord& next = words[i + 1];
    const auto is_unknown = [&](size_t at) {
      return words[at].may_change && found.words[at].document_count == 0;
    };
    if (next.may_join && (is_unknown(i) || is_unknown(i + 1))) {
      found.words[i].joined_count = dictionary.CountOf(words[i].folded + next.folded);
    }
    for (const std::string_view left : Alternatives(words[i], found.words[i])) {
      for (const std::string_view right : Alternatives(next, found.words[i + 1])) {
        const uint32_t count = dictionary.PairCount(left, right);
        if (count > 0) found.pairs.push_back({i, std::string(left), std::string(right), count});
      }
    }
  }
  const auto order = [](const WordPair& pair) {
    return std::tie(pair.index, pair.left, pair.right);
  };
  std::sort(found.pairs.begin(), found.pairs.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });
  return found;
}

namespace {

// One reading of a query, built word by word.
struct Reading {
  int64_t score = 0;
  std::string_view last;  // latest word
  int64_t last_bits = 0;  // its share of the score, without the cost of errors
  std::string text;       // text of the query so far
  size_t end_byte = 0;    // end in the query as typed
  bool is_changed = false;
  bool is_sure = true;  // all changes are
};

class Composer {
 public:
  Composer(std::string_view query, const std::vector<SpelledWord>& words,
           const Spellings& spellings)
      : query_(query),
        words_(words),
        spellings_(spellings),
        all_bits_(CountBits(spellings.collection_document_count)) {
    for (const WordPair& pair : spellings.pairs) {
      pairs_[{pair.index, pair.left, pair.right}] = pair.document_count;
    }
  }

  std::vector<SpelledQuery> Compose(size_t count_max) {
    readings_.resize(words_.size() + 1);
    readings_[0] = {Reading{}};
    for (size_t i = 0; i < words_.size(); ++i) {
      KeepLikely(&readings_[i]);
      for (const Reading& reading : readings_[i]) ReadOn(reading, i);
    }
    std::vector<Reading>& complete = readings_.back();
    int64_t unchanged = INT64_MIN;
    for (const Reading& reading : complete) {
      if (!reading.is_changed) unchanged = std::max(unchanged, reading.score);
    }
    std::vector<SpelledQuery> spelled;
    for (const Reading& reading : complete) {
      if (!reading.is_changed || reading.score <= unchanged) continue;
      spelled.push_back({reading.text + std::string(query_.substr(reading.end_byte)), reading.score,
                         reading.is_sure});
    }
    std::sort(spelled.begin(), spelled.end(), [](const auto& a, const auto& b) {
      return std::tuple(-a.score, a.text) < std::tuple(-b.score, b.text);
    });
    spelled.erase(std::unique(spelled.begin(), spelled.end()), spelled.end());
    if (spelled.size() > count_max) spelled.resize(count_max);
    return spelled;
  }

 private:
  static constexpr size_t kReadingsMax = 24;

  // Keeps the unchanged reading, because others are compared with it.
  static void KeepLikely(std::vector<Reading>* readings) {
    std::sort(readings->begin(), readings->end(), [](const Reading& a, const Reading& b) {
      return std::tuple(a.is_changed, -a.score, a.text) <
             std::tuple(b.is_changed, -b.score, b.text);
    });
    if (readings->size() > kReadingsMax) readings->resize(kReadingsMax);
  }

  int64_t Bits(uint64_t count) const { return CountBits(count) - all_bits_; }

  // Gain for following the previous word.
  int64_t PairGain(const Reading& reading, size_t i, std::string_view word, int64_t bits) const {
    if (i == 0) return 0;
    const auto pair =
        pairs_.find({static_cast<uint32_t>(i - 1), std::string(reading.last), std::string(word)});
    if (pair == pairs_.end()) return 0;
    return std::max<int64_t>(0, Bits(pair->second) - bits - reading.last_bits) / 2;
  }

  struct Step {
    std::string_view word;  // the last word
    std::string_view text;  // empty: as typed
    int64_t bits = 0;
    int64_t cost = 0;
    size_t word_count = 1;
    bool is_sure = true;
  };

  void Take(const Reading& reading, size_t i, const Step& step) {
    const SpelledWord& first = words_[i];
    const SpelledWord& last = words_[i + step.word_count - 1];
    Reading next = reading;
    next.score += step.bits - step.cost + PairGain(reading, i, step.word, step.bits);
    next.last = step.word;
    next.last_bits = step.bits;
    next.text += query_.substr(reading.end_byte, first.begin_byte - reading.end_byte);
    next.text += step.text.empty()
                     ? query_.substr(first.begin_byte, last.end_byte - first.begin_byte)
                     : step.text;
    next.end_byte = last.end_byte;
    next.is_changed |= !step.text.empty();
    next.is_sure &= step.is_sure;
    readings_[i + step.word_count].push_back(std::move(next));
  }

  void ReadOn(const Reading& reading, size_t i) {
    const SpelledWord& word = words_[i];
    const WordSpellings& spellings = spellings_.words[i];
    const int64_t unknown_cost =
        spellings.document_count == 0 && word.may_change ? kUnknownCost : 0;
    Take(reading, i, {word.folded, {}, Bits(spellings.document_count), unknown_cost});
    for (const OtherWord& other : spellings.others) {
      Take(reading, i,
           {.word = other.folded,
            .text = other.text,
            .bits = Bits(other.document_count),
            .cost = SlipCost(word.folded, other),
            .is_sure = spellings.document_count == 0 && IsSure(word.folded, other)});
    }
    for (const SplitWord& split : spellings.splits) {
      texts_.push_back(std::make_unique<std::string>(split.left + " " + split.right));
      const int64_t apart = Bits(split.left_count) + Bits(split.right_count);
      const int64_t bits = split.pair_count > 0 ? std::max(Bits(split.pair_count), apart) : apart;
      Take(reading, i,
           {.word = split.right,
            .text = *texts_.back(),
            .bits = bits,
            .cost = kSplitCost,
            .is_sure = split.pair_count > 0});
    }
    if (spellings.joined_count > 0 && i + 1 < words_.size()) {
      texts_.push_back(std::make_unique<std::string>(word.folded + words_[i + 1].folded));
      Take(reading, i,
           {.word = *texts_.back(),
            .text = *texts_.back(),
            .bits = Bits(spellings.joined_count),
            .cost = kJoinCost,
            .word_count = 2});
    }
  }

  const std::string_view query_;
  const std::vector<SpelledWord>& words_;
  const Spellings& spellings_;
  const int64_t all_bits_;
  std::map<std::tuple<uint32_t, std::string, std::string>, uint32_t> pairs_;
  std::vector<std::vector<Reading>> readings_;       // by number of words read
  std::vector<std::unique_ptr<std::string>> texts_;  // texts that steps refer to
};

}  // namespace

std::vector<SpelledQuery> ComposeSpellings(std::string_view query,
                                           const std::vector<SpelledWord>& words,
                                           const Spellings& spellings, size_t count_max) {
  if (words.empty() || spellings.words.size() != words.size()) return {};
  return Composer(query, words, spellings).Compose(count_max);
}

}  // namespace search::index
