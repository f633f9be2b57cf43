// Asked questions as phrases to suggest: by key, with the partitions that have their words.
//
// No I/O.
// Threads: thread-compatible.
// Limits: questions that are not plain queries, or too long for a phrase, are left out.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/suggest/asked_query.h"

namespace search::index {

struct QueryPhrase {
  std::string key;
  std::string text;  // as asked
  uint32_t count = 0;
  // Partitions that have every word with a letter, else those with some, ascending: a question
  // wants its words and demands none, so that it finds documents of each. None if such a word is in
  // no document. Function words do not matter.
  std::vector<size_t> holders;
};

class QueryPhrases {
 public:
  explicit QueryPhrases(const std::vector<AskedQuery>& queries);

  // Notes that these partitions have the folded word. Call it for all words of the collection.
  void AddHolders(std::string_view word, const std::vector<size_t>& partitions);

  // Removes and returns the question of that key.
  std::optional<QueryPhrase> Take(std::string_view key);
  // Removes and returns the first question of a lesser key that partitions hold; those before it,
  // which none holds, are dropped.
  std::optional<QueryPhrase> TakeBefore(std::string_view key);
  // The same for any key.
  std::optional<QueryPhrase> TakeNext();

 private:
  QueryPhrase Finished(std::map<std::string, QueryPhrase>::iterator at);

  std::map<std::string, QueryPhrase> queries_;                       // by key
  std::map<std::string, std::vector<size_t>, std::less<>> holders_;  // by word of some question
};

}  // namespace search::index
