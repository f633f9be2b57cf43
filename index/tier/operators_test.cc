#include "index/tier/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace search::index {
namespace {

TierHit Hit(uint64_t doc_id, float score) {
  TierHit hit;
  hit.set_doc_id(doc_id);
  hit.set_score(score);
  return hit;
}

// Bounds of two words, of which some are unknown; all that know a word know the same of it.
void AddRandomBounds(std::mt19937_64& random, TierAnswer* answer) {
  for (uint32_t i = 0; i < 2; ++i) {
    OtherTierWord& word = *answer->mutable_other_tier()->add_words();
    if (random() % 2 == 0) continue;
    word.set_is_known(true);
    word.set_document_count(7 + i);
    word.set_units(1000 * i);
    word.set_inverse_document_frequency(2);
    word.set_title_share(30 * i);
  }
  answer->mutable_other_tier()->set_static_rank_units(9);
}

// A partition's answer with few distinct scores, so that ties are common.
TierAnswer RandomAnswer(std::mt19937_64& random, uint64_t partition) {
  TierAnswer answer;
  const size_t hit_count = random() % 12;
  for (size_t i = 0; i < hit_count; ++i) {
    *answer.add_hits() = Hit(partition + 100 * i, static_cast<float>(random() % 5));
    answer.mutable_hits(static_cast<int>(i))->set_gain(static_cast<float>(random() % 4));
    answer.mutable_hits(static_cast<int>(i))->set_lacks(random() % 4);
  }
  if (random() % 2 == 0) AddRandomBounds(random, &answer);
  answer.set_second_phase_count(random() % 3 == 0 ? 0 : random() % 14);
  answer.set_second_phase_lacks_positions(random() % 2 == 0);
  KeepBest(static_cast<uint32_t>(1 + random() % 15), &answer);
  answer.set_total(hit_count + random() % 3);
  answer.set_total_is_exact(random() % 4 != 0);
  answer.set_evaluated_completely(random() % 4 != 0);
  answer.set_implementation(random() % 3 == 0 ? "b" : "a");
  answer.set_index_version(random() % 3);
  answer.set_epoch(random());
  return answer;
}

TEST(MergeTierAnswersTest, NamesTheSitesOnlyIfNothingMatched) {
  TierAnswer a;
  a.add_sites()->set_name("git");
  a.mutable_sites(0)->set_document_count(2);
  a.add_found_sites("git");
  TierAnswer b = a;
  b.add_sites()->set_name("python");
  const TierAnswer merged = MergeTierAnswers(a, b, 10);
  ASSERT_EQ(merged.sites_size(), 2);
  EXPECT_EQ(merged.sites(0).name(), "git");
  EXPECT_EQ(merged.sites(0).document_count(), 4u);
  EXPECT_EQ(merged.found_sites_size(), 1);
  b.set_total(1);
  EXPECT_EQ(MergeTierAnswers(a, b, 10).sites_size(), 0);
}

TEST(MergeTierAnswersTest, IsCommutativeAndAssociative) {
  std::mt19937_64 random(20260101);
  for (int round = 0; round < 2000; ++round) {
    const TierAnswer a = RandomAnswer(random, 1);
    const TierAnswer b = RandomAnswer(random, 2);
    const TierAnswer c = RandomAnswer(random, 3);
    const uint32_t count = 1 + random() % 15;
    SCOPED_TRACE(round);
    EXPECT_EQ(MergeTierAnswers(a, b, count).SerializeAsString(),
              MergeTierAnswers(b, a, count).SerializeAsString());
    EXPECT_EQ(MergeTierAnswers(MergeTierAnswers(a, b, count), c, count).SerializeAsString(),
              MergeTierAnswers(a, MergeTierAnswers(b, c, count), count).SerializeAsString());
  }
}

TEST(MergeTierAnswersTest, JoinsWhatIsKnownOfTheOtherTier) {
  TierAnswer a;
  a.mutable_other_tier()->add_words()->set_is_known(true);
  a.mutable_other_tier()->mutable_words(0)->set_document_count(3);
  a.mutable_other_tier()->add_words();
  TierAnswer b;
  b.mutable_other_tier()->add_words();
  b.mutable_other_tier()->add_words()->set_is_known(true);
  b.mutable_other_tier()->set_static_rank_units(5);
  const OtherTierBounds joined = MergeTierAnswers(a, b, 1).other_tier();
  ASSERT_EQ(joined.words_size(), 2);
  EXPECT_TRUE(joined.words(0).is_known() && joined.words(1).is_known());
  EXPECT_EQ(joined.words(0).document_count(), 3U);
  EXPECT_EQ(joined.static_rank_units(), 5U);
  EXPECT_TRUE(MergeTierAnswers(a, TierAnswer(), 1).has_other_tier());
  EXPECT_FALSE(MergeTierAnswers(TierAnswer(), TierAnswer(), 1).has_other_tier());
}

TEST(MergeTierAnswersTest, WordsAreCountedOnlyIfAllCountThem) {
  TierAnswer a;
  a.add_word_document_counts(3);
  a.add_word_document_counts(UINT32_MAX);
  TierAnswer b = a;
  const TierAnswer merged = MergeTierAnswers(a, b, 1);
  ASSERT_EQ(merged.word_document_counts_size(), 2);
  EXPECT_EQ(merged.word_document_counts(0), 6U);
  EXPECT_EQ(merged.word_document_counts(1), UINT32_MAX);
  EXPECT_EQ(MergeTierAnswers(a, TierAnswer(), 1).word_document_counts_size(), 0);
}

TEST(MergeTierAnswersTest, OrdersEqualScoresByDocId) {
  TierAnswer a;
  *a.add_hits() = Hit(9, 1.0f);
  *a.add_hits() = Hit(4, 0.5f);
  TierAnswer b;
  *b.add_hits() = Hit(3, 1.0f);
  *b.add_hits() = Hit(1, 0.25f);
  const TierAnswer merged = MergeTierAnswers(a, b, 3);
  ASSERT_EQ(merged.hits_size(), 3);
  EXPECT_EQ(merged.hits(0).doc_id(), 3u);
  EXPECT_EQ(merged.hits(1).doc_id(), 9u);
  EXPECT_EQ(merged.hits(2).doc_id(), 4u);
}

TierHit Rated(uint64_t doc_id, float score, float gain) {
  TierHit hit = Hit(doc_id, score);
  hit.set_gain(gain);
  return hit;
}

std::vector<uint64_t> Ids(const TierAnswer& answer) {
  std::vector<uint64_t> ids;
  for (const TierHit& hit : answer.hits()) ids.push_back(hit.doc_id());
  return ids;
}

TEST(MergeTierAnswersTest, OnlyTheBestOfAllKeepTheirGain) {
  TierAnswer a;
  a.set_second_phase_count(2);
  *a.add_hits() = Rated(2, 5, 2);
  *a.add_hits() = Rated(1, 6, 0);
  TierAnswer b;
  b.set_second_phase_count(2);
  *b.add_hits() = Rated(3, 4, 9);
  const TierAnswer merged = MergeTierAnswers(a, b, 3);
  EXPECT_EQ(Ids(merged), (std::vector<uint64_t>{2, 1, 3}));
  EXPECT_EQ(merged.hits(2).gain(), 0);
  EXPECT_EQ(FinalScore(merged.hits(0)), 7);
  EXPECT_EQ(merged.hits(0).score(), 5) << "the first score stays";
  // A later merge needs all rated hits.
  EXPECT_EQ(Ids(MergeTierAnswers(a, b, 1)), (std::vector<uint64_t>{2, 1}));
}

TEST(MergeTierAnswersTest, APartitionWithoutSecondPhaseTakesItFromAll) {
  TierAnswer a;
  a.set_second_phase_count(2);
  *a.add_hits() = Rated(2, 5, 2);
  *a.add_hits() = Rated(1, 6, 0);
  TierAnswer stopped;
  *stopped.add_hits() = Hit(3, 5.5F);
  const TierAnswer merged = MergeTierAnswers(a, stopped, 10);
  EXPECT_EQ(merged.second_phase_count(), 0U);
  EXPECT_EQ(Ids(merged), (std::vector<uint64_t>{1, 3, 2}));
}

TEST(MergeTierAnswersTest, HostileGainsCountAsNone) {
  TierAnswer a;
  a.set_second_phase_count(UINT32_MAX);
  *a.add_hits() = Rated(1, 1, std::numeric_limits<float>::infinity());
  *a.add_hits() = Rated(2, 2, -9);
  *a.add_hits() = Rated(3, 3, std::nanf(""));
  EXPECT_EQ(Ids(MergeTierAnswers(a, a, 2)), (std::vector<uint64_t>{3, 3, 2, 2, 1, 1}));
}

TEST(MergeTierAnswersTest, AddsTotalsAndAndsFlags) {
  TierAnswer a;
  a.set_total(5);
  a.set_total_is_exact(true);
  a.set_evaluated_completely(true);
  a.set_implementation("segment");
  a.set_index_version(7);
  TierAnswer b = a;
  b.set_total(6);
  b.set_total_is_exact(false);
  const TierAnswer merged = MergeTierAnswers(a, b, 10);
  EXPECT_EQ(merged.total(), 11u);
  EXPECT_FALSE(merged.total_is_exact());
  EXPECT_TRUE(merged.evaluated_completely());
  EXPECT_EQ(merged.implementation(), "segment");
  EXPECT_EQ(merged.index_version(), 7u);
}

TEST(MergeTierAnswersTest, SaturatesTotals) {
  TierAnswer a;
  a.set_total(std::numeric_limits<uint64_t>::max() - 1);
  EXPECT_EQ(MergeTierAnswers(a, a, 1).total(), std::numeric_limits<uint64_t>::max());
}

TEST(MergeTierAnswersTest, NamesNoImplementationWhenTheyDiffer) {
  TierAnswer a;
  a.set_implementation("x");
  TierAnswer b;
  b.set_implementation("y");
  EXPECT_EQ(MergeTierAnswers(a, b, 1).implementation(), "x+y");
}

TEST(MergeTierAnswersTest, PutsScoresThatAreNoNumbersLast) {
  TierAnswer a;
  *a.add_hits() = Hit(1, std::nanf(""));
  TierAnswer b;
  *b.add_hits() = Hit(2, -3.0f);
  const TierAnswer merged = MergeTierAnswers(a, b, 2);
  EXPECT_EQ(merged.hits(0).doc_id(), 2u);
  EXPECT_EQ(merged.hits(1).doc_id(), 1u);
}

// Four partitions of documents, some with more of the best than others.
std::vector<TierAnswer> RandomPartitions(std::mt19937_64& random) {
  std::vector<TierAnswer> partitions(4);
  const size_t document_count = random() % 80;
  for (size_t i = 0; i < document_count; ++i) {
    TierHit hit = Hit(i, static_cast<float>(random() % 20));
    hit.set_gain(static_cast<float>(random() % 4));
    *partitions[random() % (1 + random() % 4)].add_hits() = hit;
  }
  return partitions;
}

// What a partition returns of its documents.
TierAnswer AnswerOf(TierAnswer documents, const TierQuery& query) {
  const auto held = static_cast<uint32_t>(documents.hits_size());
  const uint32_t limit = ShareLimit(query);
  documents.set_says_cut(true);
  if (limit == 0) {
    documents.set_second_phase_count(query.second_phase_count());
    KeepBest(query.hit_count_max(), &documents);
    return documents;
  }
  documents.set_second_phase_count(std::min(limit, query.second_phase_count()));
  KeepBest(std::min(limit, query.hit_count_max()), &documents);
  documents.set_second_phase_count(query.second_phase_count());
  if (held > limit) NoteCut(&documents);
  return documents;
}

TierAnswer MergedInAnyOrder(std::vector<TierAnswer> answers, uint32_t hit_count_max,
                            std::mt19937_64& random) {
  while (answers.size() > 1) {
    std::shuffle(answers.begin(), answers.end(), random);
    const TierAnswer last = answers.back();
    answers.pop_back();
    answers.back() = MergeTierAnswers(answers.back(), last, hit_count_max);
  }
  return answers.front();
}

TEST(LacksHitsTest, WithoutItAnAnswerByShareHasTheHitsOfAWholeOne) {
  std::mt19937_64 random(20260302);
  int lacking = 0;
  int cut = 0;
  for (int round = 0; round < 4000; ++round) {
    SCOPED_TRACE(round);
    TierQuery query;
    query.set_hit_count_max(1 + random() % 20);
    query.set_second_phase_count(random() % 20);
    TierQuery shared = query;
    shared.set_share(1 + random() % 12);
    std::vector<TierAnswer> whole;
    std::vector<TierAnswer> parts;
    for (const TierAnswer& documents : RandomPartitions(random)) {
      whole.push_back(AnswerOf(documents, query));
      parts.push_back(AnswerOf(documents, shared));
    }
    const TierAnswer expected = MergedInAnyOrder(whole, query.hit_count_max(), random);
    const TierAnswer merged = MergedInAnyOrder(parts, query.hit_count_max(), random);
    ASSERT_FALSE(LacksHits(expected, query.hit_count_max()));
    cut += merged.has_cut_after() ? 1 : 0;
    if (LacksHits(merged, query.hit_count_max())) {
      ++lacking;
      continue;
    }
    ASSERT_EQ(merged.hits_size(), expected.hits_size());
    for (int i = 0; i < merged.hits_size(); ++i) {
      ASSERT_EQ(merged.hits(i).SerializeAsString(), expected.hits(i).SerializeAsString()) << i;
    }
  }
  EXPECT_GT(lacking, 400);
  EXPECT_GT(cut - lacking, 400) << "answers that were cut and lack nothing";
}

TEST(LacksHitsTest, IsTrueIfAnOlderProgramHadPart) {
  TierAnswer known;
  known.set_says_cut(true);
  EXPECT_FALSE(LacksHits(known, 10));
  EXPECT_FALSE(LacksHits(MergeTierAnswers(known, known, 10), 10));
  EXPECT_TRUE(LacksHits(MergeTierAnswers(known, TierAnswer(), 10), 10));
}

TEST(LacksHitsTest, IsTrueOnceACutPartitionMayHaveOneOfTheBest) {
  TierAnswer cut;
  cut.set_says_cut(true);
  *cut.add_hits() = Hit(1, 9);
  *cut.add_hits() = Hit(2, 5);
  NoteCut(&cut);
  TierAnswer other;
  other.set_says_cut(true);
  *other.add_hits() = Hit(3, 7);
  EXPECT_FALSE(LacksHits(MergeTierAnswers(cut, other, 2), 2)) << "what follows 5 is behind 7";
  EXPECT_FALSE(LacksHits(MergeTierAnswers(cut, other, 3), 3)) << "the last of all is that hit";
  EXPECT_TRUE(LacksHits(MergeTierAnswers(cut, other, 4), 4)) << "there may be a fourth";
  *other.add_hits() = Hit(4, 4);
  EXPECT_TRUE(LacksHits(MergeTierAnswers(cut, other, 4), 4)) << "5 may be followed by another 5";
}

TEST(ShareLimitTest, IsNoneIfTheAnswerHoldsNoMore) {
  TierQuery query;
  query.set_hit_count_max(10);
  query.set_second_phase_count(50);
  EXPECT_EQ(ShareLimit(query), 0u);
  query.set_share(24);
  EXPECT_EQ(ShareLimit(query), 24u);
  query.set_share(50);
  EXPECT_EQ(ShareLimit(query), 0u);
}

TEST(ValidateTierQueryTest, RefusesWhatIsOutsideTheLimits) {
  TierQuery query;
  query.set_query("word");
  EXPECT_EQ(ValidateTierQuery(query).code(), neptune::StatusCode::kInvalidArgument);
  query.set_hit_count_max(kTierHitCountMax + 1);
  EXPECT_EQ(ValidateTierQuery(query).code(), neptune::StatusCode::kInvalidArgument);
  query.set_hit_count_max(kTierHitCountMax);
  EXPECT_TRUE(ValidateTierQuery(query).ok());
  query.set_second_phase_count(kTierHitCountMax + 1);
  EXPECT_EQ(ValidateTierQuery(query).code(), neptune::StatusCode::kInvalidArgument);
  query.set_second_phase_count(kTierHitCountMax);
  EXPECT_TRUE(ValidateTierQuery(query).ok());
  query.set_query(std::string(kTierQuerySizeMax + 1, 'x'));
  EXPECT_EQ(ValidateTierQuery(query).code(), neptune::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace search::index
