// Tests bounds of tier 2: by hand, and on random collections against an index of all documents.

#include "frontend/policy/tier_bound.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <random>

#include "index/core/query/synonyms.h"
#include "index/core/testing/documents.h"
#include "index/tier/operators.h"
#include "index/tier/registry.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using index::IndexTier;
using index::OtherTierBounds;
using index::TestDocument;
using index::TierAnswer;
using index::TierQuery;

OtherTierBounds Bounds(int word_count, uint32_t document_count, float score) {
  OtherTierBounds bounds;
  for (int i = 0; i < word_count; ++i) {
    index::OtherTierWord& word = *bounds.add_words();
    word.set_is_known(true);
    word.set_document_count(document_count);
    word.set_units(static_cast<uint32_t>(score * 65536));
    word.set_inverse_document_frequency(score);
  }
  return bounds;
}

TierAnswer Hits(const std::vector<float>& scores, uint32_t second_phase_count) {
  TierAnswer answer;
  for (const float score : scores) answer.add_hits()->set_score(score);
  answer.set_second_phase_count(second_phase_count);
  return answer;
}

TEST(BoundOfTier2Test, AddsWhatEachWordReaches) {
  OtherTierBounds bounds = Bounds(2, 7, 3);
  bounds.set_static_rank_units(65536);
  const auto bound = BoundOfTier2(bounds, {{false, false}});
  ASSERT_TRUE(bound.has_value());
  EXPECT_EQ(bound->first_score, 7);
  EXPECT_EQ(bound->document_count, 14u);
  // Lead 0.2 of each word, proximity 0.2 of the pair; no word is in a title.
  EXPECT_NEAR(bound->final_score, 7 + 0.2 * 6 + 0.2 * 3, 0.001);
}

TEST(BoundOfTier2Test, AnUnknownWordHasNoBound) {
  OtherTierBounds bounds = Bounds(2, 7, 3);
  bounds.mutable_words(1)->set_is_known(false);
  EXPECT_FALSE(BoundOfTier2(bounds, {{false, false}}).has_value());
  EXPECT_FALSE(BoundOfTier2(OtherTierBounds(), BoundedQuery()).has_value());
  EXPECT_FALSE(BoundOfTier2(Bounds(2, 7, 3), {{false}}).has_value());
}

TEST(BoundOfTier2Test, AnEmptyTierIsKnownWithoutItsWords) {
  OtherTierBounds bounds = Bounds(1, 0, 0);
  bounds.mutable_words(0)->set_is_known(false);
  bounds.set_is_empty(true);
  EXPECT_EQ(BoundOfTier2(bounds, {{false}})->document_count, 0u);
}

TEST(BoundOfTier2Test, ADemandedWordThatTier2LacksLeavesNothing) {
  OtherTierBounds bounds = Bounds(2, 7, 3);
  bounds.mutable_words(1)->set_document_count(0);
  EXPECT_EQ(BoundOfTier2(bounds, {{false, true}})->document_count, 0u);
  EXPECT_EQ(BoundOfTier2(bounds, {{false, false}})->document_count, 7u);
  EXPECT_EQ(BoundOfTier2(bounds, {{false, false}})->first_score, 3);
}

TEST(SureHitsTest, AnEqualScoreIsNotSure) {
  const TierBound bound{.first_score = 4, .final_score = 4, .document_count = 9};
  EXPECT_EQ(SureHits(Hits({6, 5, 4, 3}, 0), bound), 2u);
}

TEST(SureHitsTest, NothingInTier2LeavesAllSure) {
  EXPECT_EQ(SureHits(Hits({6, 5}, 50), {.document_count = 0}), 2u);
  EXPECT_EQ(SurePageShare(Hits({}, 50), TierBound{}, {0, 10}), 1);
}

TEST(SureHitsTest, TheSecondPhaseOfTier2CountsIfItMayBeRated) {
  const TierBound bound{.first_score = 4, .final_score = 5.5, .document_count = 1};
  // Three of four may be rated, so the document of tier 2 is.
  EXPECT_EQ(SureHits(Hits({6, 5, 4.5}, 4), bound), 1u);
  // All three that are rated are better at first.
  EXPECT_EQ(SureHits(Hits({6, 5, 4.5}, 3), bound), 3u);
}

TEST(SureHitsTest, AHitThatMayLoseItsGainIsNotSure) {
  TierAnswer tier1 = Hits({3, 2}, 2);
  tier1.mutable_hits(0)->set_gain(9);
  tier1.mutable_hits(1)->set_gain(9);
  EXPECT_EQ(SureHits(tier1, {.first_score = 2.5, .final_score = 5, .document_count = 1}), 1u);
  EXPECT_EQ(SureHits(tier1, {.first_score = 3.5, .final_score = 5, .document_count = 1}), 1u);
  EXPECT_EQ(SureHits(tier1, {.first_score = 3.5, .final_score = 5, .document_count = 2}), 0u);
}

TEST(SurePageShareTest, IsOfThePage) {
  const TierBound bound{.first_score = 4, .final_score = 4, .document_count = 9};
  EXPECT_EQ(SurePageShare(Hits({8, 7, 6, 5, 4, 3}, 0), bound, {0, 4}), 1);
  EXPECT_EQ(SurePageShare(Hits({8, 7, 6, 5, 4, 3}, 0), bound, {2, 4}), 0.5);
  EXPECT_EQ(SurePageShare(Hits({8, 7, 6, 5, 4, 3}, 0), bound, {4, 4}), 0);
  EXPECT_EQ(SurePageShare(Hits({8, 7}, 0), bound, {0, 4}), 0.5);
  EXPECT_EQ(SurePageShare(Hits({8, 7}, 0), std::nullopt, {0, 2}), 0);
}

TEST(DemandedWordsTest, AreThoseOfEveryMatch) {
  const auto demanded = [](std::string_view text) {
    return BoundedQueryOf(*index::ParseQuestion(text)).demanded;
  };
  EXPECT_EQ(demanded("a1 b1"), (std::vector<bool>{false, false}));
  EXPECT_EQ(demanded("a1"), (std::vector<bool>{true}));
  EXPECT_EQ(demanded("a1 +b1 \"c1 d1\" (e1 OR f1) -g1"),
            (std::vector<bool>{false, true, true, true, false, false}));
  EXPECT_EQ(demanded("title:a1 AND a1"), (std::vector<bool>{true, true}));
}

TEST(IsBoundedByWordsTest, UnlessADocumentMatchesWithoutThem) {
  const auto is_bounded = [](std::string_view text) {
    return BoundedQueryOf(*index::ParseQuestion(text)).is_bounded;
  };
  for (const char* text : {"a1 b1", "a1 site:s", "a1 -site:s", "a1 -b*", "+a1 (b1 OR site:s)"}) {
    EXPECT_TRUE(is_bounded(text)) << text;
  }
  for (const char* text : {"site:s", "site:s -a1", "a1 OR site:s", "ab*", "a1 ab*", "+a1 ab*"}) {
    EXPECT_FALSE(is_bounded(text)) << text;
  }
}

// Both tiers and an index of all documents.
class TwoTierCollection {
 public:
  TwoTierCollection(const std::vector<TestDocument>& documents, uint64_t seed) {
    std::mt19937_64 random(seed);
    folder_ = testing::TempDir() + "/tier_bound_" + std::to_string(seed);
    std::filesystem::remove_all(folder_);
    std::vector<std::vector<TestDocument>> parts(3);
    for (const TestDocument& document : documents) {
      // Tier 1 has one of three, mostly those that are long.
      const bool is_first = random() % 3 == 0 || document.body.size() > 600;
      parts[is_first ? random() % 2 : 2].push_back(document);
    }
    Build({"/1a", "/1b", "/2"}, parts, 2);
    for (size_t part = 0; part < 3; ++part) tiers_.push_back(std::move(opened_[part]));
    opened_.clear();
    Build({"/all"}, {documents}, 0);
    whole_ = std::move(opened_[0]);
  }
  ~TwoTierCollection() { std::filesystem::remove_all(folder_); }

  TierAnswer Tier1(const TierQuery& query) const {
    return index::MergeTierAnswers(*tiers_[0]->Search(query, {}), *tiers_[1]->Search(query, {}),
                                   query.hit_count_max());
  }
  TierAnswer Both(const TierQuery& query) const {
    return index::MergeTierAnswers(Tier1(query), *tiers_[2]->Search(query, {}),
                                   query.hit_count_max());
  }
  TierAnswer Whole(const TierQuery& query) const { return *whole_->Search(query, {}); }

 private:
  void Build(const std::vector<std::string>& names,
             const std::vector<std::vector<TestDocument>>& parts, size_t tier1_count) {
    std::vector<std::string> folders;
    for (size_t i = 0; i < names.size(); ++i) {
      folders.push_back(folder_ + names[i]);
      auto builder = index::CreateTierBuilder("segment", {.directory = folders.back()});
      EXPECT_TRUE(builder.ok()) << builder.status();
      for (const TestDocument& document : parts[i]) {
        EXPECT_TRUE((*builder)->Add(document.View()).ok());
      }
      EXPECT_TRUE((*builder)->Finish().ok());
    }
    const auto finished =
        index::FinishTierCollection("segment", folders, {.tier1_count = tier1_count});
    EXPECT_TRUE(finished.ok()) << finished;
    for (const std::string& folder : folders) {
      auto tier = index::OpenIndexTier("segment", folder);
      EXPECT_TRUE(tier.ok()) << tier.status();
      opened_.push_back(std::move(*tier));
    }
  }

  std::string folder_;
  std::vector<std::unique_ptr<IndexTier>> opened_;
  std::vector<std::unique_ptr<IndexTier>> tiers_;
  std::unique_ptr<IndexTier> whole_;
};

std::string RandomQuestion(std::mt19937_64& random) {
  std::string text;
  const size_t count = 1 + random() % 3;
  for (size_t i = 0; i < count; ++i) {
    static const char* const kSigns[] = {"", "", "", "", "+", "-", "title:"};
    static const char* const kEnds[] = {"", "", "", "", "", "^0.5", "^0.05", "5*"};
    const uint64_t range = uint64_t{1} << (1 + random() % 9);
    text += kSigns[random() % 7] + ("w" + std::to_string(random() % range));
    text += neptune::StrCat(kEnds[random() % 8], " ");
  }
  static const char* const kSites[] = {"site:s0", "OR site:s0", "-site:s1"};
  if (random() % 8 == 0) text += kSites[random() % 3];
  return text;
}

// Each word of two digits has a neighbour as its synonym.
index::SynonymSets Synonyms() {
  std::string file;
  for (int i = 10; i < 100; i += 2) neptune::StrAppend(&file, "0.6: w", i, ", w", i + 1, "\n");
  return *index::SynonymSets::Parse(file);
}

// Small vocabulary and few distinct ranks, so that scores tie.
std::vector<TestDocument> RandomDocuments(std::mt19937_64& random, size_t count) {
  const auto words = [&](size_t n) {
    std::string text;
    for (size_t i = 0; i < n; ++i) {
      const uint64_t range = uint64_t{1} << (1 + random() % 9);
      text += "w" + std::to_string(random() % range) + " ";
    }
    return text;
  };
  std::vector<TestDocument> documents(count);
  for (size_t i = 0; i < count; ++i) {
    documents[i].doc_id = i + 1;
    documents[i].title = words(random() % 4);
    documents[i].body = words(random() % (random() % 4 == 0 ? 200 : 20));
    documents[i].site = random() % 4 == 0 ? "s0" : "s1";
    documents[i].static_rank = static_cast<float>(random() % 3) / 2;
  }
  return documents;
}

// What is said to be sure is what the index of all documents gives, second phase and ties included.
TEST(TierBoundOracleTest, SurePagesAreThoseOfOneIndex) {
  size_t sure_count = 0;
  size_t partly_count = 0;
  const index::SynonymSets synonyms = Synonyms();
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    std::mt19937_64 random(seed);
    const TwoTierCollection collection(RandomDocuments(random, 300), seed);
    for (int i = 0; i < 600; ++i) {
      const std::string text = RandomQuestion(random);
      index::Query query = *index::ParseQuestion(text);
      synonyms.Expand(&query);
      if (query.empty()) continue;
      const PageWindow page{static_cast<uint32_t>(random() % 2 * 3), 3};
      TierQuery tier_query;
      tier_query.set_query(index::Canonical(query));
      tier_query.set_hit_count_max(page.start + page.count);
      tier_query.set_second_phase_count(random() % 4 == 0 ? 0 : random() % 12);
      const TierAnswer tier1 = collection.Tier1(tier_query);
      const TierAnswer whole = collection.Whole(tier_query);
      const auto bound = BoundOfTier2(tier1.other_tier(), BoundedQueryOf(query));
      const TierAnswer both = collection.Both(tier_query);
      ASSERT_EQ(both.hits_size(), whole.hits_size()) << text;
      for (int j = 0; j < whole.hits_size(); ++j) {
        ASSERT_EQ(both.hits(j).doc_id(), whole.hits(j).doc_id()) << text << " seed " << seed;
      }
      if (!bound.has_value()) continue;
      const uint32_t sure = std::min<uint32_t>(SureHits(tier1, *bound), page.start + page.count);
      for (uint32_t j = 0; j < sure; ++j) {
        const auto at = static_cast<int>(j);
        ASSERT_LT(at, whole.hits_size()) << text << " seed " << seed;
        ASSERT_EQ(tier1.hits(at).doc_id(), whole.hits(at).doc_id()) << text << " seed " << seed;
        ASSERT_EQ(index::FinalScore(tier1.hits(at)), index::FinalScore(whole.hits(at))) << text;
      }
      if (SurePageShare(tier1, bound, page) == 1) {
        ++sure_count;
        const int end = static_cast<int>(page.start + page.count);
        ASSERT_EQ(std::min(tier1.hits_size(), end), std::min(whole.hits_size(), end)) << text;
      }
      partly_count += sure > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(sure_count, 30u);
  EXPECT_GT(partly_count, 100u);
}

}  // namespace
}  // namespace search::frontend
