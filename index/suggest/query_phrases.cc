#include "index/suggest/query_phrases.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "index/suggest/phrase_counts.h"
#include "index/suggest/phrase_text.h"

namespace search::index {
namespace {

constexpr size_t kQuerySizeMax = 120;

// Counters keep only words with letters (phrase_counter.cc), and questions leave out common words.
bool IsCounted(std::string_view word) {
  return word.size() > 1 && !IsFunctionWord(word) &&
         std::any_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || static_cast<uint8_t>(c) >= 0x80;
         });
}

std::vector<std::string_view> WordsOf(std::string_view key) {
  std::vector<std::string_view> words;
  while (!key.empty()) {
    words.push_back(key.substr(0, key.find(' ')));
    key.remove_prefix(std::min(key.size(), words.back().size() + 1));
  }
  return words;
}

}  // namespace

QueryPhrases::QueryPhrases(const std::vector<AskedQuery>& queries) {
  for (const AskedQuery& query : queries) {
    const std::string text = TrimmedText(query.text);
    if (query.count == 0 || text.size() > kQuerySizeMax || !IsPlainQuery(text)) continue;
    const std::vector<FoldedWord> words = FoldWords(text, kPhraseWordsMax + 1);
    std::string key = PhraseKey(words);
    if (words.empty() || words.size() > kPhraseWordsMax || key.size() > kPhraseKeySizeMax) continue;
    QueryPhrase& phrase = queries_[key];
    // The most frequent way to write it is shown.
    if (query.count > phrase.count) phrase.text = text;
    phrase.count += query.count;
    phrase.key = std::move(key);
    for (const FoldedWord& word : words) {
      if (IsCounted(word.text)) holders_[word.text];
    }
  }
}

void QueryPhrases::AddHolders(std::string_view word, const std::vector<size_t>& partitions) {
  const auto found = holders_.find(word);
  if (found != holders_.end()) found->second = partitions;
}

QueryPhrase QueryPhrases::Finished(std::map<std::string, QueryPhrase>::iterator at) {
  QueryPhrase phrase = std::move(at->second);
  queries_.erase(at);
  std::vector<size_t> all;
  std::vector<size_t> some;
  bool is_first = true;
  for (const std::string_view word : WordsOf(phrase.key)) {
    const auto found = holders_.find(word);
    if (found == holders_.end()) continue;
    const std::vector<size_t>& holders = found->second;
    if (holders.empty()) return phrase;  // no document has the word
    std::vector<size_t> both;
    std::vector<size_t> either;
    std::set_intersection(all.begin(), all.end(), holders.begin(), holders.end(),
                          std::back_inserter(both));
    std::set_union(some.begin(), some.end(), holders.begin(), holders.end(),
                   std::back_inserter(either));
    all = is_first ? holders : std::move(both);
    some = std::move(either);
    is_first = false;
  }
  phrase.holders = all.empty() ? std::move(some) : std::move(all);
  return phrase;
}

std::optional<QueryPhrase> QueryPhrases::Take(std::string_view key) {
  const auto found = queries_.find(std::string(key));
  if (found == queries_.end()) return std::nullopt;
  return Finished(found);
}

std::optional<QueryPhrase> QueryPhrases::TakeBefore(std::string_view key) {
  while (!queries_.empty() && queries_.begin()->first < key) {
    QueryPhrase phrase = Finished(queries_.begin());
    if (!phrase.holders.empty()) return phrase;
  }
  return std::nullopt;
}

std::optional<QueryPhrase> QueryPhrases::TakeNext() {
  while (!queries_.empty()) {
    QueryPhrase phrase = Finished(queries_.begin());
    if (!phrase.holders.empty()) return phrase;
  }
  return std::nullopt;
}

}  // namespace search::index
