// Compares completions with a walk over all phrases, and completions of partitions with those of
// one index.

#include "index/suggest/suggestion_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "index/suggest/phrase_text.h"
#include "index/suggest/phrase_weight.h"
#include "index/suggest/test_suggestions.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

constexpr size_t kCount = 10;

std::vector<std::string> Texts(const std::vector<Completion>& completions) {
  std::vector<std::string> texts;
  for (const Completion& completion : completions) texts.push_back(completion.text);
  return texts;
}

std::vector<std::string> CompleteOf(const std::vector<TestDocument>& documents,
                                    const std::string& prefix) {
  return Texts(TestSuggestions(documents, {}).Complete(prefix, kCount));
}

TEST(SuggestionIndexTest, TitlesAreCompletedAsTheyAreWritten) {
  const auto documents = DocumentsSaying({{"Hash Table", "x"}, {"Heap", "y"}, {"São Paulo", "z"}});
  EXPECT_EQ(CompleteOf(documents, "ha"), (std::vector<std::string>{"Hash Table", "hash"}));
  EXPECT_EQ(CompleteOf(documents, "sao p"), (std::vector<std::string>{"São Paulo"}));
  EXPECT_TRUE(CompleteOf(documents, "").empty());
  EXPECT_TRUE(CompleteOf(documents, "hash x").empty());
}

TEST(SuggestionIndexTest, LaterWordsMatchToo) {
  const auto documents = DocumentsSaying({{"Introduction to Hash Tables", "x"}});
  const auto texts = CompleteOf(documents, "hash t");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0], "Introduction to Hash Tables");
}

TEST(SuggestionIndexTest, TitlesThatAreNoPlainQueriesAreShownAsTheirWords) {
  const auto documents = DocumentsSaying({{"title:Pros -cons", "x"}});
  EXPECT_EQ(CompleteOf(documents, "title p"), (std::vector<std::string>{"title pros cons"}));
}

TEST(SuggestionIndexTest, FrequentSequencesComeWithoutBeingTitles) {
  std::vector<std::pair<std::string, std::string>> texts(5, {"", "a window function runs"});
  texts.resize(7, {"", "the window frame"});
  const auto found = CompleteOf(DocumentsSaying(texts), "window ");
  ASSERT_GE(found.size(), 1u);
  EXPECT_EQ(found[0], "window function");
  EXPECT_EQ(std::count(found.begin(), found.end(), "window frame"), 0)
      << "two documents are too few";
}

TEST(SuggestionIndexTest, WhatPeopleWroteAsAWholeComesBeforeFrequentWords) {
  std::vector<std::pair<std::string, std::string>> texts(50, {"", "the index of an index scan"});
  auto documents = DocumentsSaying(texts);
  documents[3].title = "Creating Indexes";
  documents[4].extra_text = "indexing your text\nindex\n";
  const auto found = CompleteOf(documents, "ind");
  ASSERT_GE(found.size(), 4u);
  EXPECT_EQ(found[0], "indexing your text");
  EXPECT_EQ(found[1], "Creating Indexes") << "a title, although it matches at a later word";
  EXPECT_EQ(found[2], "index") << "the most frequent word";
  EXPECT_EQ(found[3], "index scan");
}

TEST(SuggestionIndexTest, NamesOfAPartOfAllDocumentsAreLeftOut) {
  auto documents = DocumentsSaying(
      std::vector<std::pair<std::string, std::string>>(30, {"", "body text without it"}));
  for (size_t i = 0; i < documents.size(); ++i) {
    documents[i].extra_text = i < 8 ? "Notes on upgrades\n" : "Notes, all\n";
  }
  const auto found = CompleteOf(documents, "notes");
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[0], "Notes on upgrades");
  EXPECT_EQ(std::count(found.begin(), found.end(), "Notes, all"), 0);
}

TEST(SuggestionIndexTest, AskedQuestionsComeWithTheirCase) {
  const auto documents = DocumentsSaying(std::vector<std::pair<std::string, std::string>>(
      20, {"Vacuum", "to vacuum a table, then analyze 13 of them"}));
  const TestSuggestions suggestions(documents,
                                    {.writer = {.queries = {{"how do I vacuum a Table", 6},
                                                            {"How do I vacuum a table", 3},
                                                            {"vacuum 13 tables", 9},
                                                            {"vacuum nosuchword", 90},
                                                            {"title:vacuum", 90},
                                                            {"13 14", 90},
                                                            {"vacuum", 5}}}});
  EXPECT_EQ(Texts(suggestions.Complete("how", kCount)),
            (std::vector<std::string>{"how do I vacuum a Table"}));
  const auto found = Texts(suggestions.Complete("vacuum", kCount));
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[0], "Vacuum");
  EXPECT_EQ(std::count(found.begin(), found.end(), "vacuum nosuchword"), 0);
  EXPECT_EQ(std::count(found.begin(), found.end(), "vacuum 13 tables"), 0) << "no tables";
  EXPECT_EQ(std::count(found.begin(), found.end(), "title:vacuum"), 0);
  const auto numbers = Texts(suggestions.Complete("13", kCount));
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), "13 14"), 0);
}

TEST(SuggestionIndexTest, AskedQuestionsAreThoseOfOneIndex) {
  const auto documents = ZipfDocuments(300, 12);
  std::mt19937_64 random(12);
  SuggestionWriterOptions writer;
  for (uint32_t i = 1; i <= 200; ++i) {
    std::string text = "w" + std::to_string(random() % 400);
    for (size_t n = random() % 3; n > 0; --n) text += " w" + std::to_string(random() % 400);
    writer.queries.push_back({text, i});
  }
  const TestSuggestions single(documents, {.writer = writer});
  const TestSuggestions parts(documents, {.partition_count = 5, .writer = writer});
  for (const AskedQuery& query : writer.queries) {
    for (const size_t size : {size_t{2}, query.text.size()}) {
      const std::string prefix = query.text.substr(0, size);
      ASSERT_EQ(parts.Complete(prefix, kCount), single.Complete(prefix, kCount)) << prefix;
    }
  }
}

// The best completions, found by examining every phrase and every word of it.
std::vector<Completion> Exhaustive(const SuggestionIndex& index, const std::string& prefix) {
  std::vector<Completion> all;
  for (size_t phrase = 0; phrase < index.phrase_count(); ++phrase) {
    const std::string key(index.key(phrase));
    std::vector<Completion> matches;
    size_t later_words = 0;
    for (size_t start = 0; start != std::string::npos;) {
      const std::string_view rest = std::string_view(key).substr(start);
      const bool is_entry =
          start == 0 || (!IsFunctionWord(rest.substr(0, rest.find(' '))) && later_words < 6);
      if (start > 0 && is_entry) ++later_words;
      if (is_entry && rest.starts_with(prefix)) {
        const uint32_t weight = index.record(phrase).weight;
        matches.push_back(
            {.text = std::string(index.display(phrase)),
             .key = key,
             .start = static_cast<uint32_t>(start),
             .weight = start == 0 ? weight : weight - std::min<uint32_t>(weight, kLaterWordCost),
             .document_count = index.record(phrase).document_count});
      }
      const size_t blank = key.find(' ', start);
      start = blank == std::string::npos ? blank : blank + 1;
    }
    if (matches.empty()) continue;
    all.push_back(*std::min_element(matches.begin(), matches.end(), IsBetterCompletion));
  }
  std::sort(all.begin(), all.end(), IsBetterCompletion);
  if (all.size() > kCount) all.resize(kCount);
  return all;
}

// Prefixes of the phrases' words, and some that match nothing.
std::vector<std::string> SomePrefixes(const SuggestionIndex& index, size_t count) {
  std::mt19937_64 random(5);
  std::vector<std::string> prefixes = {"a", "s", "w", "w1", "the", "zzz", "~"};
  while (prefixes.size() < count && index.phrase_count() > 0) {
    const std::string_view key = index.key(random() % index.phrase_count());
    prefixes.emplace_back(key.substr(0, 1 + random() % key.size()));
    const size_t blank = key.find(' ');
    if (blank != std::string_view::npos) {
      prefixes.emplace_back(key.substr(blank + 1, 1 + random() % 6));
    }
  }
  return prefixes;
}

struct NamedDocuments {
  std::string name;
  std::vector<TestDocument> documents;
};

std::vector<NamedDocuments> AllDocuments() {
  return {{"licences", LicenseDocuments()},
          {"zipf", ZipfDocuments(800, 4)},
          {"wiki", WikiMiniDocuments(1000)}};
}

TEST(SuggestionIndexTest, TheBestAreThoseOfAnExhaustiveWalk) {
  for (const auto& [name, documents] : AllDocuments()) {
    const TestSuggestions suggestions(documents, {});
    for (const std::string& prefix : SomePrefixes(suggestions.index(0), 60)) {
      ASSERT_EQ(suggestions.index(0).Complete(prefix, kCount),
                Exhaustive(suggestions.index(0), prefix))
          << name << " '" << prefix << "'";
    }
  }
}

TEST(SuggestionIndexTest, PartitionsAnswerAsOneIndex) {
  for (const auto& [name, documents] : AllDocuments()) {
    const TestSuggestions single(documents, {});
    ASSERT_EQ(single.index(0).totals().count_error_max, 0u);
    for (const size_t partition_count : {2, 5, 8}) {
      const TestSuggestions parts(documents, {.partition_count = partition_count});
      for (const std::string& prefix : SomePrefixes(single.index(0), 300)) {
        ASSERT_EQ(parts.Complete(prefix, kCount), single.Complete(prefix, kCount))
            << name << " in " << partition_count << ", '" << prefix << "'";
      }
    }
  }
}

TEST(SuggestionIndexTest, LimitsChooseTheSamePhrasesInPartitionsAndInOne) {
  const auto documents = ZipfDocuments(1500, 6);
  const SuggestionWriterOptions writer = {
      .limits = {.word_count_max = 200, .sequence_count_max = 300, .sequence_documents_min = 2}};
  const TestSuggestions single(documents, {.writer = writer});
  const TestSuggestions parts(documents, {.partition_count = 4, .writer = writer});
  const TestSuggestions unlimited(documents, {});
  EXPECT_LT(single.index(0).phrase_count() + 1000, unlimited.index(0).phrase_count());
  for (const std::string& prefix : SomePrefixes(single.index(0), 300)) {
    ASSERT_EQ(parts.Complete(prefix, kCount), single.Complete(prefix, kCount)) << prefix;
  }
}

// The words of a suggestion occur together in a document of the partition that proposes it.
TEST(SuggestionIndexTest, EverySuggestionIsInADocumentOfItsPartition) {
  const auto documents = LicenseDocuments();
  const TestSuggestions parts(documents, {.partition_count = 3});
  for (size_t p = 0; p < 3; ++p) {
    std::vector<std::set<std::string>> texts;
    for (size_t i = p; i < documents.size(); i += 3) {
      std::set<std::string>& words = texts.emplace_back();
      for (const auto* text : {&documents[i].title, &documents[i].body, &documents[i].extra_text}) {
        for (const FoldedWord& word : FoldWords(*text, 1'000'000)) words.insert(word.text);
      }
    }
    for (size_t phrase = 0; phrase < parts.index(p).phrase_count(); phrase += 7) {
      const auto words = FoldWords(parts.index(p).display(phrase), 100);
      EXPECT_EQ(PhraseKey(words), parts.index(p).key(phrase));
      const bool is_found = std::any_of(texts.begin(), texts.end(), [&](const auto& text) {
        return std::all_of(words.begin(), words.end(),
                           [&](const FoldedWord& word) { return text.contains(word.text); });
      });
      EXPECT_TRUE(is_found) << parts.index(p).display(phrase);
    }
  }
}

std::string ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(SuggestionIndexTest, TheSameDocumentsGiveTheSameBytes) {
  const auto documents = ZipfDocuments(300, 9);
  const TestSuggestions one(documents, {.partition_count = 3});
  const TestSuggestions other(documents, {.partition_count = 3, .writer = {.thread_count = 3}});
  for (size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(ReadBytes(one.Directory(p) + "/suggest"), ReadBytes(other.Directory(p) + "/suggest"));
  }
}

TEST(SuggestionIndexTest, TheExampleOfTheFormatIsWhatIsWritten) {
  const TestSuggestions suggestions(DocumentsSaying({{"Heap", "a heap"}}), {});
  const PhraseRecord& record = suggestions.index(0).record(0);
  EXPECT_EQ(record.document_count, 1u);
  EXPECT_EQ(record.weight, 36'875u);
  EXPECT_EQ(record.flags, kPhraseIsTitle);
  const std::string counts = ReadBytes(suggestions.Directory(0) + "/suggest.counts");
  const std::string example("\x00\x04heap\x03\x01\x00\x01\x80\x10\x01\x04Heap\x00", 19);
  EXPECT_NE(counts.find(example), std::string::npos);
}

TEST(SuggestionIndexTest, AnEmptyPartitionHasNothing) {
  const TestSuggestions none({}, {.partition_count = 2});
  EXPECT_EQ(none.index(0).phrase_count(), 0u);
  EXPECT_TRUE(none.Complete("a", kCount).empty());
  EXPECT_EQ(none.Spell("anything"), "");
}

TEST(SuggestionIndexTest, EveryFlippedByteIsFoundOrHarmless) {
  const TestSuggestions suggestions(
      DocumentsSaying({{"Hash Table", "open addressing"}, {"Heap", "a heap of tables"}}), {});
  const std::string whole = ReadBytes(suggestions.Directory(0) + "/suggest");
  size_t found_count = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    auto file = SectionFile::FromBytes(damaged, "damaged", kSuggestionsKind, OpenOptions());
    if (!file.ok()) {
      ++found_count;
      continue;
    }
    const auto index = SuggestionIndex::FromFile(*std::move(file));
    ASSERT_TRUE(index.ok()) << at;  // between the sections
    EXPECT_EQ((*index)->Complete("h", kCount), suggestions.Complete("h", kCount)) << at;
  }
  EXPECT_GT(found_count, 400u);
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    EXPECT_FALSE(SectionFile::FromBytes(cut, "cut", kSuggestionsKind, OpenOptions()).ok()) << size;
  }
}

// Bytes that change after the file was opened.
TEST(SuggestionIndexTest, EveryFlippedBitOfAnOpenFileIsNotedOrStaysWithinBounds) {
  const TestSuggestions suggestions(
      DocumentsSaying({{"Hash Table", "open addressing"}, {"Heap", "a heap of tables"}}), {});
  const std::string whole = ReadBytes(suggestions.Directory(0) + "/suggest");
  std::vector<uint64_t> words(whole.size() / 8 + 1);
  char* const bytes = reinterpret_cast<char*>(words.data());
  size_t noted_count = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::copy(whole.begin(), whole.end(), bytes);
      const auto index = SuggestionIndex::FromFile(*SectionFile::FromBytes(
          {bytes, whole.size()}, "open", kSuggestionsKind, {.verify_checksums = false}));
      ASSERT_TRUE(index.ok()) << index.status();
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      for (const char* prefix : {"h", "ta", "open addressing"}) {
        for (const Completion& completion : (*index)->Complete(prefix, kCount)) {
          ASSERT_LE(completion.start, completion.key.size()) << at;
          ASSERT_LE(completion.text.size(), whole.size()) << at;
        }
      }
      const neptune::Status sound = (*index)->CheckSound();
      noted_count += sound.ok() ? 0 : 1;
      if (!sound.ok()) {
        ASSERT_EQ(sound.code(), neptune::StatusCode::kDataLoss) << at;
      }
    }
  }
  EXPECT_GT(noted_count, 20u);
}

TEST(SuggestionIndexTest, WrittenFileIsNoticedWhateverWasWritten) {
  const TestSuggestions suggestions(DocumentsSaying({{"Heap", "a heap"}}), {});
  const std::string path = suggestions.Directory(0) + "/suggest";
  // Two changes within one tick of the kernel's clock look like one.
  std::filesystem::last_write_time(
      path, std::filesystem::last_write_time(path) - std::chrono::seconds(10));
  const auto index = SuggestionIndex::Open(suggestions.Directory(0));
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_TRUE((*index)->CheckSound().ok());
  std::fstream(path, std::ios::in | std::ios::out).seekp(900).put('x').flush();
  EXPECT_EQ((*index)->CheckSound().code(), neptune::StatusCode::kDataLoss);
}

TEST(SuggestionIndexTest, MissingCountsAreAnError) {
  const TemporaryFolder folder;
  EXPECT_EQ(FinishSuggestions({folder.path()}).code(), neptune::StatusCode::kNotFound);
  EXPECT_EQ(SuggestionIndex::Open(folder.path()).status().code(), neptune::StatusCode::kNotFound);
}

}  // namespace
}  // namespace search::index
