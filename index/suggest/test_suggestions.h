// Suggestions of a collection for tests, built from documents into partitions and opened.
//
// Writes below a directory of its own and removes it.
// Threads: thread-compatible.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"
#include "index/suggest/phrase_counter.h"
#include "index/suggest/spelling.h"
#include "index/suggest/spelling_dictionary.h"
#include "index/suggest/suggestion_index.h"
#include "index/suggest/suggestion_writer.h"

namespace search::index {

struct TestSuggestionsOptions {
  size_t partition_count = 1;
  PhraseCounterOptions counter = {};
  SuggestionWriterOptions writer = {};
};

class TestSuggestions {
 public:
  // Document i goes to partition i mod partition_count. Exits the program on an error.
  TestSuggestions(const std::vector<TestDocument>& documents,
                  const TestSuggestionsOptions& options);

  size_t partition_count() const { return indexes_.size(); }
  const SuggestionIndex& index(size_t i) const { return *indexes_[i]; }
  // The dictionary of the first partition.
  const SpellingDictionary& dictionary() const { return *dictionary_; }
  std::string Directory(size_t i) const;

  // Completions of all partitions, merged.
  std::vector<Completion> Complete(const std::string& prefix, size_t count_max) const;
  // The best other text for the query; empty if there is none.
  std::string Spell(const std::string& query) const;

 private:
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<SuggestionIndex>> indexes_;
  std::unique_ptr<SpellingDictionary> dictionary_;
};

// Documents with these titles and bodies, numbered from 1, of rank 0.5.
std::vector<TestDocument> DocumentsSaying(
    const std::vector<std::pair<std::string, std::string>>& titles_and_bodies);

}  // namespace search::index
