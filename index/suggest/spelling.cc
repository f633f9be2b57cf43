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

size_t LetterCount(std::string_view folded) {
  return static_cast<size_t>(std::count_if(folded.begin(), folded.end(), [](char c) {
    return (static_cast<uint8_t>(c) & 0xC0) != 0x80 && !(c >= '0' && c <= '9');
  }));
}

// True if the word is frequent enough that no correction could be likelier.
bool IsPlentiful(uint64_t document_count, uint64_t collection_document_count) {
  constexpr uint64_t kShare = 256;
  constexpr uint64_t kLeast = 50;
  return document_count >= std::max(kLeast, collection_document_count / kShare);
}

uint32_t DistanceMax(std::string_view folded) {
  const size_t letters = LetterCount(folded);
  if (letters < 3) return 0;
  return letters < 5 ? 1 : 2;
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

// Cost of reading `typed` as the other word.
int64_t SlipCost(std::string_view typed, const OtherWord& other) {
  int64_t cost = kEditCost + (other.distance > 1 ? kSecondEditCost : 0);
  if (typed.substr(0, 1) != std::string_view(other.folded).substr(0, 1)) cost += kFirstLetterCost;
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

// Splits whose halves are adjacent in documents come first: every partition with such documents
// knows them, while other splits are known only to a partition that happens to hold both halves.
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

// The text in the vocabulary's spelling, with accents.
std::string TextOf(const SuggestionIndex& index, size_t phrase) {
  const std::string_view display = index.display(phrase);
  const bool is_ascii = std::all_of(display.begin(), display.end(),
                                    [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  if (is_ascii) return std::string(index.key(phrase));
  std::string text;
  AppendLowerCase(display, &text);
  return text;
}

std::vector<OtherWord> FindOthers(const SuggestionIndex& index, const std::string& folded) {
  std::vector<OtherWord> others;
  for (const CloseWord& close : FindCloseWords(index, folded, DistanceMax(folded))) {
    if (close.distance == 0) continue;
    const size_t phrase = index.word_phrase(close.word);
    others.push_back({.folded = std::string(index.key(phrase)),
                      .text = {},
                      .document_count = index.record(phrase).document_count,
                      .distance = close.distance});
    // Bounds the number of candidates for any word.
    if (others.size() >= 64 * kSpellingsPerWord) KeepBestOthers(folded, &others);
  }
  KeepBestOthers(folded, &others);
  for (OtherWord& other : others) other.text = TextOf(index, *index.FindPhrase(other.folded));
  return others;
}

// Number of documents in which the words are adjacent, as far as the phrases show; 1 if only a
// longer phrase contains the pair.
uint32_t PairCount(const SuggestionIndex& index, std::string_view left, std::string_view right) {
  std::string key(left);
  key += ' ';
  key += right;
  const auto phrase = index.FindPhrase(key);
  if (phrase) return index.record(*phrase).document_count;
  key += ' ';
  return index.HasCompletion(key) ? 1 : 0;
}

std::vector<SplitWord> FindSplits(const SuggestionIndex& index, std::string_view folded) {
  std::vector<SplitWord> splits;
  for (size_t at = 2; at + 2 <= folded.size(); ++at) {
    if ((static_cast<uint8_t>(folded[at]) & 0xC0) == 0x80) continue;
    const std::string_view left = folded.substr(0, at);
    const std::string_view right = folded.substr(at);
    const uint32_t left_count = index.WordCount(left);
    const uint32_t right_count = left_count > 0 ? index.WordCount(right) : 0;
    if (right_count == 0) continue;
    splits.push_back({.left = std::string(left),
                      .right = std::string(right),
                      .pair_count = PairCount(index, left, right),
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

bool Contains(const std::vector<std::string_view>& all, std::string_view text) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

}  // namespace

std::vector<SpelledWord> WordsToSpell(std::string_view query) {
  std::vector<SpelledWord> words;
  size_t end = 0;
  bool after_site = false;
  for (FoldedWord& folded : FoldWords(query, kSpelledWordsMax + 1)) {
    const std::string_view gap = query.substr(end, folded.begin_byte - end);
    const std::string_view typed =
        query.substr(folded.begin_byte, folded.end_byte - folded.begin_byte);
    const bool is_field = query.substr(folded.end_byte, 1) == ":" &&
                          (folded.text == "title" || IsFilterName(folded.text));
    after_site = (after_site && !gap.empty() && gap.find(' ') == std::string_view::npos) ||
                 (!words.empty() && IsFilterName(words.back().folded) && gap == ":");
    const bool is_operator = typed == "AND" || typed == "OR" || typed == "NOT" || typed == "NEAR";
    const bool is_excluded = gap.ends_with('-') && (gap.size() == 1 ? end == 0 : true);
    words.push_back({.folded = std::move(folded.text),
                     .may_change = !is_field && !after_site && !is_operator && !is_excluded,
                     .may_join = !words.empty() && !gap.empty() && IsBlankOnly(gap),
                     .begin_byte = folded.begin_byte,
                     .end_byte = folded.end_byte});
    SpelledWord& word = words.back();
    word.may_change &= LetterCount(word.folded) >= 2;
    end = word.end_byte;
  }
  if (words.size() > kSpelledWordsMax) words.clear();
  return words;
}

Spellings FindSpellings(const SuggestionIndex& index, const std::vector<SpelledWord>& words) {
  Spellings found;
  found.collection_document_count = index.totals().collection_document_count;
  for (size_t i = 0; i < words.size(); ++i) {
    WordSpellings& word = found.words.emplace_back();
    word.document_count = index.WordCount(words[i].folded);
    if (!words[i].may_change) continue;
    if (!IsPlentiful(word.document_count, found.collection_document_count)) {
      word.others = FindOthers(index, words[i].folded);
      word.splits = FindSplits(index, words[i].folded);
    }
    if (i + 1 < words.size() && words[i + 1].may_change && words[i + 1].may_join) {
      word.joined_count = index.WordCount(words[i].folded + words[i + 1].folded);
    }
  }
  for (uint32_t i = 0; i + 1 < words.size(); ++i) {
    for (const std::string_view left : Alternatives(words[i], found.words[i])) {
      for (const std::string_view right : Alternatives(words[i + 1], found.words[i + 1])) {
        const uint32_t count = PairCount(index, left, right);
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

Spellings MergeSpellings(const Spellings& a, const Spellings& b,
                         const std::vector<SpelledWord>& words) {
  Spellings merged;
  merged.collection_document_count =
      std::max(a.collection_document_count, b.collection_document_count);
  merged.words.resize(words.size());
  for (const Spellings* part : {&a, &b}) {
    for (size_t i = 0; i < std::min(words.size(), part->words.size()); ++i) {
      const WordSpellings& from = part->words[i];
      WordSpellings& to = merged.words[i];
      to.document_count = std::max(to.document_count, from.document_count);
      to.joined_count = std::max(to.joined_count, from.joined_count);
      to.others.insert(to.others.end(), from.others.begin(), from.others.end());
      to.splits.insert(to.splits.end(), from.splits.begin(), from.splits.end());
    }
    merged.pairs.insert(merged.pairs.end(), part->pairs.begin(), part->pairs.end());
  }
  for (size_t i = 0; i < words.size(); ++i) {
    WordSpellings& word = merged.words[i];
    // A partition that does not hold the word could not know that it is frequent.
    if (IsPlentiful(word.document_count, merged.collection_document_count)) {
      word.others.clear();
      word.splits.clear();
    }
    KeepBestOthers(words[i].folded, &word.others);
    KeepBestSplits(&word.splits);
  }
  std::erase_if(merged.pairs, [&](const WordPair& pair) {
    return pair.index + 1 >= words.size() ||
           !Contains(Alternatives(words[pair.index], merged.words[pair.index]), pair.left) ||
           !Contains(Alternatives(words[pair.index + 1], merged.words[pair.index + 1]), pair.right);
  });
  const auto order = [](const WordPair& pair) {
    return std::tie(pair.index, pair.left, pair.right, pair.document_count);
  };
  std::sort(merged.pairs.begin(), merged.pairs.end(),
            [&](const auto& x, const auto& y) { return order(x) < order(y); });
  merged.pairs.erase(std::unique(merged.pairs.begin(), merged.pairs.end()), merged.pairs.end());
  return merged;
}

bool IsWorthProposing(uint64_t total, uint64_t other_total) {
  constexpr uint64_t kFarMore = 10;
  return other_total > 0 && other_total / kFarMore >= total;
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
      spelled.push_back(
          {reading.text + std::string(query_.substr(reading.end_byte)), reading.score});
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
           {other.folded, other.text, Bits(other.document_count), SlipCost(word.folded, other)});
    }
    for (const SplitWord& split : spellings.splits) {
      texts_.push_back(std::make_unique<std::string>(split.left + " " + split.right));
      const int64_t apart = Bits(split.left_count) + Bits(split.right_count);
      const int64_t bits = split.pair_count > 0 ? std::max(Bits(split.pair_count), apart) : apart;
      Take(reading, i, {split.right, *texts_.back(), bits, kSplitCost});
    }
    if (spellings.joined_count > 0 && i + 1 < words_.size()) {
      texts_.push_back(std::make_unique<std::string>(word.folded + words_[i + 1].folded));
      Take(reading, i,
           {*texts_.back(), *texts_.back(), Bits(spellings.joined_count), kJoinCost, 2});
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
