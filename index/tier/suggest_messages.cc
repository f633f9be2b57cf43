#include "index/tier/suggest_messages.h"

#include <algorithm>

namespace search::index {
namespace {

// Each word or one of its replacements, followed by the next word or one of its own.
constexpr size_t kPairsMax = kSpelledWordsMax * (1 + kSpellingsPerWord) * (1 + kSpellingsPerWord);

void Fill(const OtherWord& other, OtherWordMessage* message) {
  message->set_folded(other.folded);
  message->set_text(other.text);
  message->set_document_count(other.document_count);
  message->set_distance(other.distance);
}

void Fill(const SplitWord& split, SplitWordMessage* message) {
  message->set_left(split.left);
  message->set_right(split.right);
  message->set_pair_count(split.pair_count);
  message->set_left_count(split.left_count);
  message->set_right_count(split.right_count);
}

WordSpellings FromMessage(const WordSpellingsMessage& message) {
  WordSpellings word = {.document_count = message.document_count(),
                        .others = {},
                        .splits = {},
                        .joined_count = message.joined_count()};
  for (const OtherWordMessage& other : message.others()) {
    if (word.others.size() == kSpellingsPerWord) break;
    word.others.push_back({.folded = other.folded(),
                           .text = other.text(),
                           .document_count = other.document_count(),
                           .distance = other.distance()});
  }
  for (const SplitWordMessage& split : message.splits()) {
    if (word.splits.size() == kSplitsPerWord) break;
    word.splits.push_back({.left = split.left(),
                           .right = split.right(),
                           .pair_count = split.pair_count(),
                           .left_count = split.left_count(),
                           .right_count = split.right_count()});
  }
  return word;
}

}  // namespace

Suggestion ToMessage(const Completion& completion, uint32_t prefix_index) {
  Suggestion message;
  message.set_text(completion.text);
  message.set_key(completion.key);
  message.set_start(completion.start);
  message.set_weight(completion.weight);
  message.set_document_count(completion.document_count);
  message.set_prefix_index(prefix_index);
  return message;
}

Completion FromMessage(const Suggestion& suggestion) {
  const auto start = std::min<size_t>(suggestion.start(), suggestion.key().size());
  return {.text = suggestion.text(),
          .key = suggestion.key(),
          .start = static_cast<uint32_t>(start),
          .weight = suggestion.weight(),
          .document_count = suggestion.document_count()};
}

SpellQuery ToMessage(const std::vector<SpelledWord>& words) {
  SpellQuery query;
  for (const SpelledWord& word : words) {
    SpellQueryWord* const message = query.add_words();
    message->set_folded(word.folded);
    message->set_may_change(word.may_change);
    message->set_may_join(word.may_join);
    message->set_is_accented(word.is_accented);
    message->set_is_known(word.is_known);
  }
  return query;
}

std::vector<SpelledWord> FromMessage(const SpellQuery& query) {
  std::vector<SpelledWord> words;
  for (const SpellQueryWord& word : query.words()) {
    words.push_back({.folded = word.folded(),
                     .may_change = word.may_change(),
                     .may_join = word.may_join(),
                     .is_accented = word.is_accented(),
                     .is_known = word.is_known()});
  }
  return words;
}

SpellAnswer ToMessage(const Spellings& spellings) {
  SpellAnswer answer;
  answer.set_collection_document_count(spellings.collection_document_count);
  for (const WordSpellings& word : spellings.words) {
    WordSpellingsMessage* const message = answer.add_words();
    message->set_document_count(word.document_count);
    message->set_joined_count(word.joined_count);
    for (const OtherWord& other : word.others) Fill(other, message->add_others());
    for (const SplitWord& split : word.splits) Fill(split, message->add_splits());
  }
  for (const WordPair& pair : spellings.pairs) {
    WordPairMessage* const message = answer.add_pairs();
    message->set_index(pair.index);
    message->set_left(pair.left);
    message->set_right(pair.right);
    message->set_document_count(pair.document_count);
  }
  return answer;
}

Spellings FromMessage(const SpellAnswer& answer) {
  Spellings spellings;
  spellings.collection_document_count = answer.collection_document_count();
  for (const WordSpellingsMessage& word : answer.words()) {
    if (spellings.words.size() == kSpelledWordsMax) break;
    spellings.words.push_back(FromMessage(word));
  }
  for (const WordPairMessage& pair : answer.pairs()) {
    if (spellings.pairs.size() == kPairsMax) break;
    if (pair.index() >= spellings.words.size()) continue;
    spellings.pairs.push_back({.index = pair.index(),
                               .left = pair.left(),
                               .right = pair.right(),
                               .document_count = pair.document_count()});
  }
  return spellings;
}

}  // namespace search::index
