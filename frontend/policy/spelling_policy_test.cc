// Tests which words of a question are doubted, and what becomes of another spelling.

#include "frontend/policy/spelling_policy.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "index/core/query/synonyms.h"

namespace search::frontend {
namespace {

using index::ScoringWord;
using index::SpelledWord;

constexpr uint64_t kDocumentsMax = 5;

// Words of the question that may change, and those of them that are known with an exclamation mark.
std::string Doubted(const std::string& question, const std::map<std::string, uint64_t>& documents,
                    const std::string& synonyms = {}) {
  index::Query query = *index::ParseQuestion(question);
  if (!synonyms.empty()) index::SynonymSets::Parse(synonyms)->Expand(&query);
  const auto words = index::ScoringWords(query);
  std::vector<uint64_t> counts;
  for (const ScoringWord& word : words) {
    const auto found = documents.find(word.term);
    counts.push_back(found == documents.end() ? 1000 : found->second);
  }
  std::string text;
  for (const SpelledWord& word : DoubtfulWords(question, words, counts, kDocumentsMax)) {
    if (!word.may_change) continue;
    text += (text.empty() ? "" : " ") + word.folded + (word.is_known ? "!" : "");
  }
  return text;
}

TEST(DoubtfulWordsTest, WordsOfManyDocumentsAreNot) {
  EXPECT_EQ(Doubted("python list comprehension", {}), "");
  EXPECT_EQ(Doubted("pyhton list", {{"pyhton", 0}}), "pyhton");
  EXPECT_EQ(Doubted("pyhton list", {{"pyhton", kDocumentsMax}}), "pyhton!");
  EXPECT_EQ(Doubted("pyhton list", {{"pyhton", kDocumentsMax + 1}}), "");
  EXPECT_EQ(Doubted("Running shoess", {{"run", 0}, {"shoess", 0}}), "running shoess");
}

TEST(DoubtfulWordsTest, DemandedWordsAreOnlyIfNoDocumentHoldsThem) {
  EXPECT_EQ(Doubted("+pyhton list", {{"pyhton", 2}}), "");
  EXPECT_EQ(Doubted("+pyhton list", {{"pyhton", 0}}), "pyhton");
  EXPECT_EQ(Doubted("\"pyhton list\"", {{"pyhton", 0}}), "pyhton");
}

TEST(DoubtfulWordsTest, WhatScoresNothingIsNot) {
  EXPECT_EQ(Doubted("list -pyhton", {{"pyhton", 0}}), "");
  EXPECT_EQ(Doubted("list site:pyhton", {{"pyhton", 0}}), "");
  EXPECT_EQ(Doubted("lst OR python", {{"lst", 0}}), "lst");
  EXPECT_EQ(Doubted("how to list", {{"how", 0}, {"to", 0}}), "") << "common words are left out";
}

TEST(DoubtfulWordsTest, SynonymsMakeAWordKnown) {
  EXPECT_EQ(Doubted("postgres vacuum", {{"postgr", 0}}), "postgres");
  EXPECT_EQ(Doubted("postgres vacuum", {{"postgr", 0}}, "0.6: postgres, postgresql\n"), "");
  EXPECT_EQ(Doubted("vacuum", {}, "0.6: vacuum, hoover\n"), "");
}

TEST(DoubtfulWordsTest, AQuestionOfDoubtfulWordsIsTakenAsItIs) {
  std::string question;
  std::map<std::string, uint64_t> documents;
  for (char c = 'a'; c < 'a' + static_cast<char>(kDoubtfulWordsMax); ++c) {
    question += std::string(5, c) + " ";
    documents[std::string(5, c)] = 0;
  }
  EXPECT_NE(Doubted(question, documents), "");
  documents["zzzzz"] = 0;
  EXPECT_EQ(Doubted(question + "zzzzz", documents), "");
}

TEST(DoubtfulWordsTest, NothingIsDoubtedWithoutNumbers) {
  const auto words = index::ScoringWords(*index::ParseQuestion("pyhton"));
  EXPECT_TRUE(DoubtfulWords("pyhton", words, {}, kDocumentsMax).empty());
}

TEST(WordCountsTest, ATierThatWasNotAskedCountsAsItsBoundsSay) {
  index::TierAnswer hits;
  hits.add_word_document_counts(3);
  hits.add_word_document_counts(0);
  EXPECT_EQ(WordCounts(hits, false), (std::vector<uint64_t>{3, 0}));
  hits.mutable_other_tier()->add_words()->set_document_count(4);
  hits.mutable_other_tier()->add_words()->set_document_count(7);
  hits.mutable_other_tier()->add_words()->set_document_count(9);
  EXPECT_EQ(WordCounts(hits, false), (std::vector<uint64_t>{7, 7}));
  EXPECT_EQ(WordCounts(hits, true), (std::vector<uint64_t>{3, 0}));
  EXPECT_TRUE(WordCounts(index::TierAnswer(), false).empty());
}

TEST(UseOfSpellingTest, ASureOneReplacesACompleteAnswerAndAnyOneAnEmpty) {
  SearchAnswer answer;
  answer.total = 12;
  answer.results.resize(10);
  EXPECT_EQ(UseOfSpelling({.text = "x", .is_sure = true}, answer), SpellingUse::kReplace);
  EXPECT_EQ(UseOfSpelling({.text = "x", .is_sure = false}, answer), SpellingUse::kOffer);
  answer.coverage.tiers.push_back({.service = "tier 1", .partitions_asked = 2});
  answer.coverage.tiers[0].missing.push_back({1, "overloaded"});
  EXPECT_EQ(UseOfSpelling({.text = "x", .is_sure = true}, answer), SpellingUse::kOffer)
      << "a missing partition may hold the word";
  EXPECT_EQ(UseOfSpelling({.text = "x", .is_sure = false}, SearchAnswer()), SpellingUse::kReplace);
}

TEST(UseOfSpellingTest, ASearchThatWasCutHasNotFoundNothing) {
  SearchAnswer answer;
  answer.coverage.tiers.push_back({.service = "tier 1", .partitions_asked = 2});
  EXPECT_EQ(UseOfSpelling({.text = "x", .is_sure = false}, answer), SpellingUse::kReplace);
  answer.coverage.tiers[0].ended_early = {1};
  for (const bool is_sure : {false, true}) {
    EXPECT_EQ(UseOfSpelling({.text = "x", .is_sure = is_sure}, answer), SpellingUse::kOffer);
  }
}

TEST(HasUnknownWordTest, KnownWordsAreOffered) {
  EXPECT_TRUE(HasUnknownWord({{.folded = "a"}}));
  EXPECT_FALSE(HasUnknownWord({{.folded = "a", .is_known = true}}));
  EXPECT_FALSE(HasUnknownWord({{.folded = "a", .may_change = false}}));
}

}  // namespace
}  // namespace search::frontend
