#include "index/core/segment/term_dictionary.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace search::index {
namespace {

// Keys with long common prefixes, so that blocks share their first eight bytes.
std::map<std::string, uint32_t> MakeTerms(size_t count, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::map<std::string, uint32_t> terms;
  while (terms.size() < count) {
    std::string key = rng() % 2 == 0 ? "commonbeginning" : "";
    for (size_t size = 1 + rng() % 6; size > 0; --size) key.push_back('a' + rng() % 4);
    terms[key] = 1 + rng() % 300;
  }
  return terms;
}

class Built {
 public:
  explicit Built(const std::map<std::string, uint32_t>& terms) {
    TermEntry entry;
    for (const auto& [key, frequency] : terms) {
      entry.document_frequency = frequency;
      entry.postings_size = frequency * 2;
      entry.positions_size = frequency * 3;
      builder_.Add(key, entry);
      entries_.push_back(entry);
      entry.postings_offset += entry.postings_size;
      entry.positions_offset += entry.positions_size;
      if (frequency > kPostingBlockSize) entry.first_block += entry.block_count();
      ++entry.ordinal;
    }
  }

  TermDictionary Dictionary() const {
    auto dictionary = TermDictionary::FromSections(builder_.term_count(), builder_.heads(),
                                                   builder_.blocks(), builder_.bytes());
    EXPECT_TRUE(dictionary.ok()) << dictionary.status();
    return *dictionary;
  }
  const TermEntry& entry(size_t i) const { return entries_[i]; }
  const TermDictionaryBuilder& builder() const { return builder_; }

 private:
  TermDictionaryBuilder builder_;
  std::vector<TermEntry> entries_;
};

void ExpectEqual(const TermEntry& a, const TermEntry& b) {
  EXPECT_EQ(a.ordinal, b.ordinal);
  EXPECT_EQ(a.document_frequency, b.document_frequency);
  EXPECT_EQ(a.postings_offset, b.postings_offset);
  EXPECT_EQ(a.postings_size, b.postings_size);
  EXPECT_EQ(a.positions_offset, b.positions_offset);
  EXPECT_EQ(a.positions_size, b.positions_size);
  EXPECT_EQ(a.first_block, b.first_block);
}

TEST(TermDictionaryTest, FindsEveryTermAndNoOther) {
  for (const size_t count : {1, 15, 16, 17, 2000}) {
    const auto terms = MakeTerms(count, count);
    const Built built(terms);
    const TermDictionary dictionary = built.Dictionary();
    size_t i = 0;
    for (const auto& [key, frequency] : terms) {
      const auto found = dictionary.Find(key);
      ASSERT_TRUE(found.ok() && found->has_value()) << key;
      ExpectEqual(**found, built.entry(i++));
      for (const std::string& other : {key + "a", key.substr(1), key.substr(0, key.size() - 1)}) {
        const auto result = dictionary.Find(other);
        ASSERT_TRUE(result.ok());
        ASSERT_EQ(result->has_value(), terms.contains(other)) << other;
      }
    }
  }
}

TEST(TermDictionaryTest, WalksInOrder) {
  const auto terms = MakeTerms(1000, 5);
  const Built built(terms);
  const TermDictionary dictionary = built.Dictionary();
  TermCursor cursor(dictionary);
  size_t i = 0;
  for (const auto& [key, frequency] : terms) {
    ASSERT_TRUE(cursor.Next());
    EXPECT_EQ(cursor.key(), key);
    ExpectEqual(cursor.entry(), built.entry(i++));
  }
  EXPECT_FALSE(cursor.Next());
  EXPECT_TRUE(cursor.status().ok());
}

TEST(TermDictionaryTest, EmptyHoldsNothing) {
  const TermDictionary dictionary = Built({}).Dictionary();
  EXPECT_FALSE(dictionary.Find("x")->has_value());
}

TEST(TermDictionaryTest, CutOffBytesAreDataLoss) {
  const Built built(MakeTerms(100, 6));
  const auto dictionary =
      TermDictionary::FromSections(100, built.builder().heads(), built.builder().blocks(),
                                   built.builder().bytes().substr(0, 200));
  ASSERT_TRUE(dictionary.ok());
  TermCursor cursor(*dictionary);
  while (cursor.Next()) continue;
  EXPECT_EQ(cursor.status().code(), neptune::StatusCode::kDataLoss);
}

TEST(TermDictionaryTest, SizesThatContradictAreDataLoss) {
  const Built built(MakeTerms(100, 7));
  EXPECT_EQ(TermDictionary::FromSections(1000, built.builder().heads(), built.builder().blocks(),
                                         built.builder().bytes())
                .status()
                .code(),
            neptune::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace search::index
