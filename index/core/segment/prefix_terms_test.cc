#include "index/core/segment/prefix_terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace search::index {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PrefixTermsTest : public testing::Test {
 protected:
  void Add(std::string term, uint32_t documents) { terms_[std::move(term)] = documents; }

  std::vector<std::string> Found(std::string_view prefix, std::string_view word = "") {
    TermDictionaryBuilder builder;
    TermEntry entry;
    for (const auto& [term, documents] : terms_) {
      entry.document_frequency = documents;
      builder.Add(term, entry);
    }
    const auto dictionary = TermDictionary::FromSections(builder.term_count(), builder.heads(),
                                                         builder.blocks(), builder.bytes());
    EXPECT_TRUE(dictionary.ok()) << dictionary.status();
    const auto found = FindPrefixTerms(*dictionary, prefix, word);
    EXPECT_TRUE(found.ok()) << found.status();
    std::vector<std::string> names;
    for (const PrefixTerm& term : found->terms) {
      names.push_back(term.term);
      EXPECT_EQ(term.entry.document_frequency, terms_.at(term.term));
    }
    is_cut_ = found->is_cut;
    return names;
  }

  bool is_cut_ = false;

 private:
  std::map<std::string, uint32_t> terms_;
};

TEST_F(PrefixTermsTest, BeginWithThePrefix) {
  for (const char* term : {"ve", "vec", "vector", "vectori", "ved", "a", "z"}) Add(term, 1);
  EXPECT_THAT(Found("vec"), ElementsAre("vec", "vector", "vectori"));
  EXPECT_THAT(Found("z"), ElementsAre("z"));
  EXPECT_THAT(Found("a"), ElementsAre("a"));
  EXPECT_THAT(Found("zz"), IsEmpty());
  EXPECT_THAT(Found("0"), IsEmpty());
  EXPECT_FALSE(is_cut_);
}

TEST_F(PrefixTermsTest, IncludeTheWordItself) {
  Add("run", 1);
  Add("runningback", 1);
  EXPECT_THAT(Found("running", "run"), ElementsAre("run", "runningback"));
  EXPECT_THAT(Found("running", "absent"), ElementsAre("runningback"));
  EXPECT_THAT(Found("run", "run"), ElementsAre("run", "runningback"));
}

TEST_F(PrefixTermsTest, AreFoundFromAnyPlaceOfTheDictionary) {
  for (int i = 0; i < 500; ++i) Add("commonbeginning" + std::to_string(1000 + i), 1);
  for (int i = 0; i < 50; ++i) {
    const std::string prefix = "commonbeginning" + std::to_string(100 + i);
    EXPECT_THAT(Found(prefix), SizeIs(10)) << prefix;
  }
}

TEST_F(PrefixTermsTest, KeepTheMostFrequentOfTooMany) {
  for (int i = 0; i < 300; ++i) Add("w" + std::to_string(i), i == 7 ? 9 : i < 100 ? 2 : 1);
  const std::vector<std::string> found = Found("w");
  EXPECT_TRUE(is_cut_);
  EXPECT_THAT(found, SizeIs(kPrefixTermsMax));
  EXPECT_THAT(found, Contains("w7"));
  EXPECT_THAT(found, testing::Not(Contains("w150")));
}

TEST_F(PrefixTermsTest, ExistInAnEmptyDictionaryNowhere) { EXPECT_THAT(Found("x"), IsEmpty()); }

}  // namespace
}  // namespace search::index
