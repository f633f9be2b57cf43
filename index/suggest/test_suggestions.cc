#include "index/suggest/test_suggestions.h"

#include <glog/logging.h>

#include <algorithm>
#include <filesystem>

#include "neptune/base/strings.h"

namespace search::index {

TestSuggestions::TestSuggestions(const std::vector<TestDocument>& documents,
                                 const TestSuggestionsOptions& options) {
  std::vector<std::string> directories;
  for (size_t p = 0; p < options.partition_count; ++p) {
    directories.push_back(Directory(p));
    std::filesystem::create_directories(directories.back());
    PhraseCounter counter(options.counter);
    for (size_t i = p; i < documents.size(); i += options.partition_count) {
      counter.Add(documents[i].View());
    }
    const neptune::Status finished = counter.Finish(directories.back());
    CHECK(finished.ok()) << finished;
  }
  const neptune::Status finished = FinishSuggestions(directories, options.writer);
  CHECK(finished.ok()) << finished;
  for (const std::string& directory : directories) {
    auto index = SuggestionIndex::Open(directory);
    CHECK(index.ok()) << index.status();
    indexes_.push_back(*std::move(index));
  }
  auto dictionary = SpellingDictionary::Open(directories.front());
  CHECK(dictionary.ok()) << dictionary.status();
  dictionary_ = *std::move(dictionary);
}

std::string TestSuggestions::Directory(size_t i) const {
  return neptune::StrCat(folder_.path(), "/", i);
}

std::vector<Completion> TestSuggestions::Complete(const std::string& prefix,
                                                  size_t count_max) const {
  std::vector<Completion> all;
  for (const auto& index : indexes_) {
    for (Completion& completion : index->Complete(prefix, count_max)) {
      all.push_back(std::move(completion));
    }
  }
  std::sort(all.begin(), all.end(), IsBetterCompletion);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() > count_max) all.resize(count_max);
  return all;
}

std::string TestSuggestions::Spell(const std::string& query) const {
  const std::vector<SpelledWord> words = WordsToSpell(query);
  const auto spelled = ComposeSpellings(query, words, FindSpellings(*dictionary_, words), 1);
  return spelled.empty() ? std::string() : spelled[0].text;
}

std::vector<TestDocument> DocumentsSaying(
    const std::vector<std::pair<std::string, std::string>>& titles_and_bodies) {
  std::vector<TestDocument> documents;
  for (const auto& [title, body] : titles_and_bodies) {
    TestDocument& document = documents.emplace_back();
    document.doc_id = documents.size();
    document.title = title;
    document.body = body;
    document.static_rank = 0.5;
  }
  return documents;
}

}  // namespace search::index
