// Times of completion and spelling over the titles and texts of a collection, p50 and p99, and the
// share of corrected typing errors; size and build time of the files.
//
//   suggest_benchmark --documents=docs.jsonl.zst --directory=FOLDER [--partitions=1]
//   [--count_max=N]
//
// Queries are beginnings of titles, and titles with a random typing error in one word. Times are
// processor time of one thread, all partitions one after the other, merged.

#include <gflags/gflags.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "index/core/testing/documents.h"
#include "index/suggest/close_words.h"
#include "index/suggest/phrase_counter.h"
#include "index/suggest/spelling.h"
#include "index/suggest/spelling_dictionary.h"
#include "index/suggest/suggestion_index.h"
#include "index/suggest/suggestion_writer.h"

DEFINE_string(documents, "", "JSON Lines packed with zstd: id, title, text");
DEFINE_string(directory, "", "folder for the files; created if absent");
DEFINE_int32(partitions, 1, "partitions");
DEFINE_int64(count_max, 1'000'000'000, "documents read");
DEFINE_int32(queries, 5000, "queries of each kind");
DEFINE_bool(build, true, "build the files; false: use existing files");

namespace search::index {
namespace {

double CpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void Check(const neptune::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

std::vector<std::string> Folders() {
  std::vector<std::string> folders;
  for (int p = 0; p < FLAGS_partitions; ++p) {
    folders.push_back(FLAGS_directory + "/" + std::to_string(p));
    std::filesystem::create_directories(folders.back());
  }
  return folders;
}

// Reads the titles and optionally counts the documents.
std::vector<std::string> ReadDocuments(std::vector<std::unique_ptr<PhraseCounter>>* counters) {
  std::vector<std::string> titles;
  double seconds = 0;
  uint64_t size = 0;
  const bool was_read = ReadZstdLines(FLAGS_documents, [&](const std::string& line) {
    const auto json = nlohmann::json::parse(line);
    const std::string title = json.at("title");
    const std::string text = json.at("text");
    size += title.size() + text.size();
    if (!counters->empty()) {
      const double begin = CpuSeconds();
      (*counters)[titles.size() % counters->size()]->Add({.doc_id = titles.size(),
                                                          .title = title,
                                                          .body = text,
                                                          .extra_text = {},
                                                          .site = {},
                                                          .static_rank = 0.5F});
      seconds += CpuSeconds() - begin;
    }
    titles.push_back(title);
    return static_cast<int64_t>(titles.size()) < FLAGS_count_max;
  });
  if (!was_read) Check(neptune::NotFound("cannot read ", FLAGS_documents));
  std::printf("%zu documents, %.0f MB; counting took %.1f s\n", titles.size(),
              static_cast<double>(size) / 1e6, seconds);
  return titles;
}

void PrintTimes(const char* what, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    return 1e6 * seconds[static_cast<size_t>(share * static_cast<double>(seconds.size() - 1))];
  };
  std::printf("%-28s p50 %8.1f us  p99 %8.1f us  max %8.1f us\n", what, at(0.5), at(0.99), at(1));
}

// One random edit of a letter.
std::string Slip(std::string word, std::mt19937_64& random) {
  const size_t at = random() % word.size();
  const char letter = static_cast<char>('a' + random() % 26);
  switch (random() % 4) {
    case 0:
      word.erase(at, 1);
      break;
    case 1:
      word.insert(at, 1, letter);
      break;
    case 2:
      word[at] = letter;
      break;
    default:
      if (at + 1 < word.size()) std::swap(word[at], word[at + 1]);
  }
  return word;
}

class Measurement {
 public:
  Measurement(std::vector<std::unique_ptr<SuggestionIndex>> indexes,
              std::unique_ptr<SpellingDictionary> dictionary, std::vector<std::string> titles)
      : indexes_(std::move(indexes)),
        dictionary_(std::move(dictionary)),
        titles_(std::move(titles)) {}

  void MeasureCompletion() {
    for (const size_t letters : {1, 2, 4, 8, 0}) {
      std::vector<double> seconds;
      for (int i = 0; i < FLAGS_queries; ++i) {
        const auto words = FoldWords(titles_[random_() % titles_.size()], kPhraseWords);
        std::string prefix = PhraseKey(words);
        prefix.resize(std::min(prefix.size(), letters == 0 ? 1 + random_() % 20 : letters));
        const double begin = CpuSeconds();
        Complete(prefix);
        seconds.push_back(CpuSeconds() - begin);
      }
      const std::string what = letters == 0 ? "complete 1 to 20 letters"
                                            : "complete " + std::to_string(letters) + " letters";
      PrintTimes(what.c_str(), std::move(seconds));
    }
  }

  void MeasureCloseWords() {
    for (const uint32_t distance : {1u, 2u}) {
      std::vector<double> seconds;
      for (int i = 0; i < FLAGS_queries; ++i) {
        const auto words = FoldWords(titles_[random_() % titles_.size()], kPhraseWords);
        if (words.empty() || words.back().text.size() < 5) continue;
        const std::string wanted = Slip(words.back().text, random_);
        const double begin = CpuSeconds();
        (void)FindCloseWords(*dictionary_, wanted, distance);
        seconds.push_back(CpuSeconds() - begin);
      }
      PrintTimes(distance == 1 ? "close words within 1" : "close words within 2",
                 std::move(seconds));
    }
  }

  // Titles of plain words with an edit in one of them; correct if the title's words are restored.
  void MeasureSpelling() {
    std::vector<double> seconds;
    size_t right_count = 0;
    size_t other_count = 0;
    for (int i = 0; i < FLAGS_queries; ++i) {
      std::vector<FoldedWord> words = FoldWords(titles_[random_() % titles_.size()], kPhraseWords);
      if (words.empty()) continue;
      const std::string meant = PhraseKey(words);
      std::string& changed = words[random_() % words.size()].text;
      if (changed.size() < 4 || changed[0] < 'a' || changed[0] > 'z') continue;
      changed = Slip(changed, random_);
      const std::string typed = PhraseKey(words);
      if (typed == meant) continue;
      const double begin = CpuSeconds();
      const std::string spelled = Spell(typed);
      seconds.push_back(CpuSeconds() - begin);
      right_count += spelled == meant ? 1 : 0;
      other_count += !spelled.empty() && spelled != meant ? 1 : 0;
    }
    const auto share = [&](size_t count) {
      return 100.0 * static_cast<double>(count) / static_cast<double>(seconds.size());
    };
    std::printf("of %zu errors %.1f %% corrected, %.1f %% made another word, the rest left\n",
                seconds.size(), share(right_count), share(other_count));
    PrintTimes("spell a title with a typing error", std::move(seconds));
  }

  void ShowSome() {
    for (const char* prefix : {"p", "uni", "new y", "hist", "american f", "wo", "battle of"}) {
      std::printf("%s:", prefix);
      for (const Completion& completion : Complete(prefix)) {
        std::printf(" [%s %u]", completion.text.c_str(), completion.document_count);
      }
      std::printf("\n");
    }
  }

 private:
  static constexpr size_t kPhraseWords = 12;

  std::vector<Completion> Complete(const std::string& prefix) {
    std::vector<Completion> all;
    for (const auto& index : indexes_) {
      auto part = index->Complete(prefix, 10);
      all.insert(all.end(), part.begin(), part.end());
    }
    std::sort(all.begin(), all.end(), IsBetterCompletion);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    all.resize(std::min<size_t>(all.size(), 10));
    return all;
  }

  std::string Spell(const std::string& query) {
    const auto words = WordsToSpell(query);
    if (words.empty()) return {};
    const auto spelled = ComposeSpellings(query, words, FindSpellings(*dictionary_, words), 4);
    return spelled.empty() ? std::string() : spelled[0].text;
  }

  const std::vector<std::unique_ptr<SuggestionIndex>> indexes_;
  const std::unique_ptr<SpellingDictionary> dictionary_;
  const std::vector<std::string> titles_;
  std::mt19937_64 random_{1};
};

void Run() {
  const std::vector<std::string> folders = Folders();
  std::vector<std::unique_ptr<PhraseCounter>> counters;
  for (int p = 0; p < (FLAGS_build ? FLAGS_partitions : 0); ++p) {
    counters.push_back(std::make_unique<PhraseCounter>());
  }
  std::vector<std::string> titles = ReadDocuments(&counters);
  const double begin = CpuSeconds();
  for (size_t p = 0; p < counters.size(); ++p) Check(counters[p]->Finish(folders[p]));
  const double counted = CpuSeconds();
  if (FLAGS_build) Check(FinishSuggestions(folders));
  std::printf("writing counts took %.1f s, finishing %.1f s\n", counted - begin,
              CpuSeconds() - counted);
  counters.clear();
  std::vector<std::unique_ptr<SuggestionIndex>> indexes;
  uint64_t size = 0;
  for (const std::string& folder : folders) {
    auto index = SuggestionIndex::Open(folder);
    Check(index.status());
    const SuggestionTotals& totals = (*index)->totals();
    std::printf("partition: %lu phrases, %lu entries, count error %lu, %.1f MB\n",
                totals.phrase_count, totals.entry_count, totals.count_error_max,
                static_cast<double>((*index)->size()) / 1e6);
    size += (*index)->size();
    indexes.push_back(*std::move(index));
  }
  std::printf("%.1f MB in all\n", static_cast<double>(size) / 1e6);
  auto dictionary = SpellingDictionary::Open(folders.front());
  Check(dictionary.status());
  std::printf("dictionary: %zu words, %lu pairs, %.1f MB\n", (*dictionary)->word_count(),
              (*dictionary)->totals().pair_count, static_cast<double>((*dictionary)->size()) / 1e6);
  Measurement measurement(std::move(indexes), *std::move(dictionary), std::move(titles));
  measurement.ShowSome();
  measurement.MeasureCompletion();
  measurement.MeasureCloseWords();
  measurement.MeasureSpelling();
}

}  // namespace
}  // namespace search::index

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  search::index::Run();
  return 0;
}
