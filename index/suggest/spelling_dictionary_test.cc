// Compares the dictionary's look-ups with walks over all its words, and damages its file.

#include "index/suggest/spelling_dictionary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "index/suggest/close_words.h"
#include "index/suggest/deletion_keys.h"
#include "index/suggest/dictionary_builder.h"
#include "index/suggest/test_suggestions.h"

namespace search::index {
namespace {

std::string RandomWord(std::mt19937_64& random, size_t letters) {
  std::string word;
  const size_t size = 1 + random() % 9;
  for (size_t i = 0; i < size; ++i) {
    if (random() % 12 == 0) {
      word += "é";
    } else {
      word += static_cast<char>('a' + random() % letters);
    }
  }
  return word;
}

std::string Folded(const std::string& text) { return FoldWords(text, 1)[0].text; }

std::vector<CloseWord> CompareWithAll(const SpellingDictionary& dictionary,
                                      const std::string& wanted, uint32_t distance_max) {
  std::vector<CloseWord> close;
  if (CharacterCount(wanted) > kSpelledWordMax) return close;
  if (distance_max > 1 && CharacterCount(wanted) < kTwoEditsMin) return close;
  for (size_t word = 0; word < dictionary.word_count(); ++word) {
    const uint32_t distance = EditDistance(wanted, dictionary.word(word));
    if (distance <= distance_max && dictionary.may_be_meant(word))
      close.push_back({word, distance});
  }
  return close;
}

TEST(CloseWordsTest, TheyAreThoseOfAnExhaustiveComparison) {
  std::mt19937_64 random(3);
  std::vector<std::pair<std::string, std::string>> texts;
  for (int i = 0; i < 1500; ++i) {
    const std::string word = RandomWord(random, 4);
    texts.push_back({"", word});
    if (i % 3 != 0) texts.push_back({"", word});  // the others are words of one document
  }
  for (int i = 0; i < 40; ++i) texts.push_back({std::string(20 + i, 'a'), ""});
  const TestSuggestions suggestions(DocumentsSaying(texts), {});
  const SpellingDictionary& dictionary = suggestions.dictionary();
  ASSERT_GT(dictionary.word_count(), 700u);
  size_t close_count = 0;
  for (int i = 0; i < 600; ++i) {
    const std::string wanted =
        i % 20 == 0 ? std::string(25 + i / 20, 'a') : Folded(RandomWord(random, 4));
    for (const uint32_t distance_max : {1u, 2u}) {
      const auto expected = CompareWithAll(dictionary, wanted, distance_max);
      ASSERT_EQ(FindCloseWords(dictionary, wanted, distance_max), expected)
          << wanted << " within " << distance_max;
      close_count += expected.size();
    }
  }
  EXPECT_GT(close_count, 5000u);
}

TEST(DeletionKeysTest, EachIsGivenOnce) {
  std::vector<uint64_t> keys;
  DeletionKeys("abcdefg", 2, &keys);
  EXPECT_EQ(keys.size(), 1u + 7u + 21u);
  DeletionKeys("abcdefghijk", 2, &keys);
  EXPECT_EQ(keys.size(), 1u + 7u + 21u);
  DeletionKeys("aaaa", 2, &keys);
  EXPECT_EQ(keys.size(), 3u);
  DeletionKeys("éa", 1, &keys);
  EXPECT_EQ(keys.size(), 3u);
  DeletionKeys("", 2, &keys);
  EXPECT_EQ(keys.size(), 1u);
}

TEST(SpellingDictionaryTest, EveryPartitionGetsThatOfTheWholeCollection) {
  const auto documents = LicenseDocuments();
  const TestSuggestions single(documents, {});
  const TestSuggestions parts(documents, {.partition_count = 5});
  const auto bytes = [](const std::string& directory) {
    std::ifstream in(directory + "/spelling", std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  ASSERT_GT(bytes(single.Directory(0)).size(), 1000u);
  for (size_t p = 0; p < kDictionaryCopies; ++p) {
    EXPECT_EQ(bytes(parts.Directory(p)), bytes(single.Directory(0))) << p;
  }
  EXPECT_EQ(SpellingDictionary::Open(parts.Directory(kDictionaryCopies)).status().code(),
            neptune::StatusCode::kNotFound);
}

TEST(SpellingDictionaryTest, KnowsWordsAccentsAndPairs) {
  std::vector<std::pair<std::string, std::string>> texts(4, {"", "the hash map of São Paulo"});
  texts.push_back({"Fourier Transform in Practice", "hash"});
  const TestSuggestions suggestions(DocumentsSaying(texts), {});
  const SpellingDictionary& dictionary = suggestions.dictionary();
  EXPECT_EQ(dictionary.totals().collection_document_count, 5u);
  EXPECT_EQ(dictionary.CountOf("hash"), 5u);
  EXPECT_EQ(dictionary.CountOf("hashes"), 0u);
  EXPECT_EQ(dictionary.shown(*dictionary.Find("sao")), "são");
  EXPECT_EQ(dictionary.shown(*dictionary.Find("map")), "map");
  EXPECT_EQ(dictionary.PairCount("hash", "map"), 4u);
  EXPECT_EQ(dictionary.PairCount("map", "hash"), 0u);
  EXPECT_EQ(dictionary.PairCount("fourier", "transform"), 1u);
  EXPECT_EQ(dictionary.PairCount("transform", "in"), 1u);
  EXPECT_EQ(dictionary.PairCount("no", "such"), 0u);
  EXPECT_TRUE(dictionary.may_be_meant(*dictionary.Find("practice"))) << "a word of a title";
}

TEST(DictionaryBuilderTest, WordsOfOneDocumentAreKnownAndNotMeant) {
  const TemporaryFolder folder;
  DictionaryBuilder builder;
  builder.AddWord({.folded = "hash", .shown = "hash", .document_count = 9});
  builder.AddWord(
      {.folded = "hashh", .shown = "hashh", .document_count = 1, .may_be_meant = false});
  builder.AddPhrase("hash hashh", 3);
  builder.AddPhrase("hash hashh gone", 2);
  ASSERT_TRUE(builder.Write({folder.path()}, 10, 0).ok());
  const auto dictionary = SpellingDictionary::Open(folder.path());
  ASSERT_TRUE(dictionary.ok()) << dictionary.status();
  EXPECT_EQ((*dictionary)->CountOf("hashh"), 1u);
  EXPECT_EQ((*dictionary)->PairCount("hash", "hashh"), 3u);
  EXPECT_EQ(FindCloseWords(**dictionary, "hashh", 2), (std::vector<CloseWord>{{0, 1}}));
}

TEST(SpellingDictionaryTest, TheExampleOfTheFormatIsWhatIsWritten) {
  const TestSuggestions suggestions(DocumentsSaying({{"Heap", "a heap"}}), {});
  const auto file = SectionFile::Open(suggestions.Directory(0) + "/spelling", kDictionaryKind, {});
  ASSERT_TRUE(file.ok()) << file.status();
  const auto numbers = [&](DictionarySection section) {
    const auto array = (*file)->Array<uint32_t>(section);
    EXPECT_TRUE(array.ok()) << array.status();
    return std::vector<uint32_t>(array->begin(), array->end());
  };
  EXPECT_EQ(*(*file)->Section(kDictionaryTextsSection), "heap");
  EXPECT_EQ(numbers(kDictionaryCountsSection), (std::vector<uint32_t>{3}));
  EXPECT_EQ(numbers(kDeletionBeginsSection), (std::vector<uint32_t>{0, 1, 3, 5, 5}));
  EXPECT_EQ(numbers(kDeletionEntriesSection),
            (std::vector<uint32_t>{0x27200000, 0xf2a00000, 0x5eb00000, 0x65400000, 0x42200000}));
  EXPECT_EQ(numbers(kPairBeginsSection), (std::vector<uint32_t>{0, 0}));
}

TEST(SpellingDictionaryTest, AnEmptyCollectionHasNoWords) {
  const TestSuggestions none({}, {.partition_count = 3});
  EXPECT_EQ(none.dictionary().word_count(), 0u);
  EXPECT_EQ(none.Spell("anything"), "");
}

TEST(SpellingDictionaryTest, EveryFlippedByteIsFoundOrHarmless) {
  const TestSuggestions suggestions(
      DocumentsSaying({{"Hash Table", "open addressing"}, {"Heap", "São tables of a heap"}}), {});
  std::ifstream in(suggestions.Directory(0) + "/spelling", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const auto expected = FindCloseWords(suggestions.dictionary(), "haep", 1);
  size_t found_count = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    auto file = SectionFile::FromBytes(damaged, "damaged", kDictionaryKind, OpenOptions());
    if (!file.ok()) {
      ++found_count;
      continue;
    }
    const auto dictionary = SpellingDictionary::FromFile(*std::move(file));
    ASSERT_TRUE(dictionary.ok()) << at;  // between the sections
    EXPECT_EQ(FindCloseWords(**dictionary, "haep", 1), expected) << at;
  }
  EXPECT_GT(found_count, 400u);
}

// Damage without checksums is found by the checks of the sections, or yields other words.
TEST(SpellingDictionaryTest, FlippedBytesWithoutChecksumsNeverReachBeyondTheFile) {
  const TestSuggestions suggestions(
      DocumentsSaying({{"Hash Table", "open addressing"}, {"Heap", "São tables of a heap"}}), {});
  std::ifstream in(suggestions.Directory(0) + "/spelling", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0x01, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      auto file =
          SectionFile::FromBytes(damaged, "damaged", kDictionaryKind, {.verify_checksums = false});
      if (!file.ok()) continue;
      const auto dictionary = SpellingDictionary::FromFile(*std::move(file));
      if (!dictionary.ok()) continue;
      for (size_t word = 0; word < (*dictionary)->word_count(); ++word) {
        EXPECT_LE((*dictionary)->shown(word).size(), whole.size());
      }
      (void)(*dictionary)->PairCount("hash", "table");
      (void)FindCloseWords(**dictionary, "hsah", 1);
    }
  }
}

// Bytes that change after the file was opened.
TEST(SpellingDictionaryTest, EveryFlippedBitOfAnOpenFileIsNotedOrStaysWithinBounds) {
  const TestSuggestions suggestions(
      DocumentsSaying({{"Hash Table", "open addressing"}, {"Heap", "São tables of a heap"}}), {});
  std::ifstream in(suggestions.Directory(0) + "/spelling", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  std::vector<uint64_t> words(whole.size() / 8 + 1);
  char* const bytes = reinterpret_cast<char*>(words.data());
  size_t noted_count = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::copy(whole.begin(), whole.end(), bytes);
      const auto dictionary = SpellingDictionary::FromFile(*SectionFile::FromBytes(
          {bytes, whole.size()}, "open", kDictionaryKind, {.verify_checksums = false}));
      ASSERT_TRUE(dictionary.ok()) << dictionary.status();
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      for (size_t word = 0; word < (*dictionary)->word_count(); ++word) {
        ASSERT_LE((*dictionary)->shown(word).size(), whole.size()) << at;
      }
      (void)(*dictionary)->PairCount("hash", "table");
      (void)FindCloseWords(**dictionary, "hsah", 1);
      noted_count += (*dictionary)->CheckSound().ok() ? 0 : 1;
    }
  }
  EXPECT_GT(noted_count, 20u);
}

}  // namespace
}  // namespace search::index
