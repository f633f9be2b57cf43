#include "index/suggest/phrase_counter.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "index/suggest/phrase_counts.h"
#include "index/suggest/phrase_text.h"
#include "index/suggest/test_suggestions.h"

namespace search::index {
namespace {

using Counts = std::map<std::string, PhraseCounts>;

struct Counted {
  Counts counts;
  PhraseCountsTotals totals;
  std::string bytes;
};

Counted Count(const std::vector<TestDocument>& documents,
              const PhraseCounterOptions& options = {}) {
  const TemporaryFolder folder;
  PhraseCounter counter(options);
  for (const TestDocument& document : documents) counter.Add(document.View());
  const neptune::Status finished = counter.Finish(folder.path());
  EXPECT_TRUE(finished.ok()) << finished;
  Counted counted;
  auto reader = PhraseCountsReader::Open(folder.path());
  EXPECT_TRUE(reader.ok()) << reader.status();
  counted.totals = (*reader)->totals();
  for (auto more = (*reader)->Next(); *more; more = (*reader)->Next()) {
    counted.counts[(*reader)->phrase().key] = (*reader)->phrase();
    EXPECT_TRUE(more.ok()) << more.status();
  }
  std::ifstream in(folder.path() + "/suggest.counts", std::ios::binary);
  counted.bytes = {std::istreambuf_iterator<char>(in), {}};
  return counted;
}

uint32_t TextCount(const Counts& counts, const std::string& key) {
  const auto found = counts.find(key);
  if (found == counts.end()) return 0;
  uint32_t sum = 0;
  for (const PhraseVariant& variant : found->second.variants) sum += variant.document_count;
  return sum;
}

TEST(PhraseCounterTest, WordsAndSequencesCountOnceADocument) {
  const Counts counts = Count(DocumentsSaying({{"", "the hash map, the hash map"},
                                               {"", "a Hash Map of maps. Hash, map"},
                                               {"", "hash-map"}}))
                            .counts;
  EXPECT_EQ(TextCount(counts, "hash"), 3u);
  EXPECT_EQ(TextCount(counts, "maps"), 1u);
  EXPECT_EQ(TextCount(counts, "hash map"), 3u);
}

TEST(PhraseCounterTest, SequencesNeitherBeginNorEndWithFunctionWordsNorCrossSigns) {
  const Counts counts =
      Count(DocumentsSaying({{"", "history of rome and 3 kings. Carthage fell"}})).counts;
  EXPECT_EQ(TextCount(counts, "history of rome"), 1u);
  for (const char* key : {"history of", "of rome", "rome and", "3 kings", "kings carthage"}) {
    EXPECT_FALSE(counts.contains(key)) << key;
  }
  EXPECT_TRUE(counts.contains("carthage fell"));
}

TEST(PhraseCounterTest, SpellingsWithAndWithoutAccentsAreVariantsOfOneKey) {
  const Counts counts =
      Count(DocumentsSaying({{"", "CAFÉ noir"}, {"", "café"}, {"", "cafe"}})).counts;
  const std::vector<PhraseVariant>& variants = counts.at("cafe").variants;
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0].surface, "cafe");
  EXPECT_EQ(variants[0].document_count, 1u);
  EXPECT_EQ(variants[1].surface, "café");
  EXPECT_EQ(variants[1].document_count, 2u);
  EXPECT_EQ(counts.at("cafe noir").variants[0].surface, "café noir");
}

TEST(PhraseCounterTest, TitlesKeepTheBestDocument) {
  std::vector<TestDocument> documents =
      DocumentsSaying({{"Hash Table", ""}, {"HASH table", ""}, {"hash  table ", ""}});
  documents[1].static_rank = 0.75;
  documents[2].static_rank = 0.75;
  const Counts counts = Count(documents).counts;
  const NamedDocuments& title = counts.at("hash table").title;
  EXPECT_EQ(title.count, 3u);
  EXPECT_EQ(title.rank, kRankUnits * 3 / 4);
  EXPECT_EQ(title.doc_id, 2u);
  EXPECT_EQ(title.text, "HASH table");
}

// Counts of one document for each text of headings.
Counts CountHeadings(const std::string& body, const std::vector<std::string>& headings,
                     const PhraseCounterOptions& options = {}) {
  const TemporaryFolder folder;
  PhraseCounter counter(options);
  uint64_t doc_id = 0;
  for (const std::string& lines : headings) counter.Add({.doc_id = ++doc_id, .body = body}, lines);
  EXPECT_TRUE(counter.Finish(folder.path()).ok());
  const auto reader = PhraseCountsReader::Open(folder.path());
  EXPECT_TRUE(reader.ok()) << reader.status();
  Counts counts;
  for (auto more = (*reader)->Next(); more.ok() && *more; more = (*reader)->Next()) {
    counts[(*reader)->phrase().key] = (*reader)->phrase();
  }
  return counts;
}

TEST(PhraseCounterTest, HeadingsOfTwoWordsAreNamesIfTheDocumentHasTheirWords) {
  const Counts counts =
      CountHeadings("Creating an Index, in general. Café noir?",
                    {"Creating an Index\n\nCreating an index\nIndex\nin an\nnot in it\ncafé NOIR",
                     "Creating an index"});
  EXPECT_EQ(counts.at("creating an index").name.count, 2u) << "once a document";
  EXPECT_EQ(counts.at("creating an index").name.text, "Creating an Index");
  EXPECT_EQ(counts.at("creating an index").title.count, 0u);
  EXPECT_EQ(counts.at("cafe noir").name.text, "café NOIR");
  EXPECT_EQ(counts.at("index").name.count, 0u) << "one word";
  EXPECT_FALSE(counts.contains("in an")) << "only function words";
  EXPECT_FALSE(counts.contains("not in it"));
}

TEST(PhraseCounterTest, TextsOfLinksAreNames) {
  std::vector<TestDocument> documents = DocumentsSaying({{"git-stash", "x"}, {"git-add", "y"}});
  documents[0].extra_text = "stash changes away\nsave work in progress\nstash\n";
  documents[1].extra_text = "Stash changes away\n";
  documents[1].static_rank = 1;
  const Counts counts = Count(documents).counts;
  EXPECT_EQ(counts.at("stash changes away").name.count, 2u);
  EXPECT_EQ(counts.at("stash changes away").name.text, "Stash changes away");
  EXPECT_EQ(counts.at("stash changes away").name.rank, kRankUnits);
  EXPECT_EQ(counts.at("save work in progress").name.count, 1u);
}

TEST(PhraseCounterTest, SectionNumbersAndNamesOfFilesAreNoPartOfQuestions) {
  std::vector<TestDocument> documents =
      DocumentsSaying({{"3.5. Window Functions", "x"}, {"3.5 released", "y"}, {"1.", "z"}});
  documents[0].extra_text =
      "9.22. Calls of Functions\nhow.html\nmanual/how.html#calls\nstd::hash\n";
  const Counts counts = Count(documents).counts;
  EXPECT_EQ(counts.at("window functions").title.text, "Window Functions");
  EXPECT_EQ(counts.at("3.5 released").title.text, "3.5 released");
  EXPECT_EQ(counts.at("1").title.text, "1.");
  EXPECT_EQ(counts.at("calls of functions").name.text, "Calls of Functions");
  EXPECT_EQ(counts.at("std hash").name.text, "std::hash");
  for (const auto& [key, phrase] : counts) {
    EXPECT_EQ(phrase.name.text.find("html"), std::string::npos) << key;
  }
}

TEST(PhraseCounterTest, FrequentNamesStayIfThereAreTooMany) {
  std::vector<std::string> headings;
  for (int i = 0; i < 100; ++i) {
    headings.push_back("see also\nname a" + std::to_string(i % 10) + " of b" + std::to_string(i));
  }
  std::string body = "see also name of";
  for (int i = 0; i < 100; ++i) body += " a" + std::to_string(i) + " b" + std::to_string(i);
  const Counts counts = CountHeadings(body, headings, {.name_count_max = 20});
  size_t name_count = 0;
  for (const auto& [key, phrase] : counts) name_count += phrase.name.count > 0 ? 1 : 0;
  EXPECT_LE(name_count, 20u);
  EXPECT_EQ(counts.at("see also").name.count, 100u);
}

TEST(PhraseCounterTest, BodiesCountSequencesInTheirWindowOnly) {
  const Counts counts =
      Count(DocumentsSaying({{"", "red apple green pear blue plum"}}), {.window = 4}).counts;
  EXPECT_TRUE(counts.contains("green pear"));
  EXPECT_FALSE(counts.contains("pear blue"));
  EXPECT_FALSE(counts.contains("blue plum"));
  EXPECT_EQ(TextCount(counts, "plum"), 1u);
}

// Expected counts, from a map of everything.
Counts ExactWords(const std::vector<TestDocument>& documents) {
  Counts exact;
  for (const TestDocument& document : documents) {
    std::set<std::string> words;
    for (const std::string* text : {&document.title, &document.body, &document.extra_text}) {
      for (const FoldedWord& word : FoldWords(*text, 1'000'000)) words.insert(word.text);
    }
    for (const std::string& word : words) {
      if (exact[word].variants.empty()) exact[word].variants.push_back({word, 0});
      ++exact[word].variants[0].document_count;
    }
  }
  return exact;
}

TEST(PhraseCounterTest, ForgottenPhrasesBoundTheErrorOfCounts) {
  const auto documents = ZipfDocuments(3000, 11);
  const Counts exact = ExactWords(documents);
  const Counted all = Count(documents);
  EXPECT_EQ(all.totals.count_error_max, 0u);
  EXPECT_EQ(all.totals.document_count, documents.size());
  const Counted pruned = Count(documents, {.word_count_max = 500, .sequence_count_max = 5000});
  EXPECT_GT(pruned.totals.count_error_max, 0u);
  for (const auto& [word, counts] : exact) {
    const uint32_t count = counts.variants[0].document_count;
    EXPECT_EQ(TextCount(all.counts, word), count) << word;
    EXPECT_LE(TextCount(pruned.counts, word), count) << word;
    EXPECT_LE(count, TextCount(pruned.counts, word) + pruned.totals.count_error_max) << word;
  }
}

TEST(PhraseCounterTest, BestTitlesStayIfThereAreTooMany) {
  std::vector<TestDocument> documents;
  for (uint64_t i = 0; i < 1000; ++i) {
    TestDocument& document = documents.emplace_back();
    document.doc_id = i;
    document.title = "title x" + std::to_string(i);
    document.static_rank = static_cast<float>(i * 7919 % 1000) / 1000;
  }
  const Counts counts = Count(documents, {.title_count_max = 100}).counts;
  size_t title_count = 0;
  for (const auto& [key, phrase] : counts) title_count += phrase.title.count > 0 ? 1 : 0;
  EXPECT_LE(title_count, 100u);
  EXPECT_GE(title_count, 50u);
  for (const TestDocument& document : documents) {
    const auto found = counts.find(document.title);
    if (document.static_rank < 0.95) continue;
    ASSERT_NE(found, counts.end());
    EXPECT_EQ(found->second.title.count, 1u) << document.title;
  }
}

TEST(PhraseCounterTest, TheSameDocumentsGiveTheSameBytes) {
  const auto documents = ZipfDocuments(500, 3);
  const PhraseCounterOptions small = {
      .word_count_max = 300, .sequence_count_max = 2000, .title_count_max = 50};
  EXPECT_EQ(Count(documents).bytes, Count(documents).bytes);
  EXPECT_EQ(Count(documents, small).bytes, Count(documents, small).bytes);
}

TEST(PhraseCounterTest, AnythingMayStandInADocument) {
  const Counts counts = Count(DocumentsSaying({{std::string(5000, 'x'), "\xFF\xFE \xC3("},
                                               {"<b>&amp;</b>\n\n", "\0\1\2"},
                                               {"İstanbul ŉ ﬁ ™ 検索", "don’t DON'T c++ 3.14"}}))
                            .counts;
  EXPECT_TRUE(counts.contains("don't"));
  EXPECT_TRUE(counts.contains("b amp b"));
}

}  // namespace
}  // namespace search::index
