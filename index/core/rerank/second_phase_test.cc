#include "index/core/rerank/second_phase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace search::index {
namespace {

constexpr size_t kTitle = static_cast<size_t>(Field::kTitle);
constexpr size_t kBody = static_cast<size_t>(Field::kBody);
constexpr DocumentShape kShape = {.norms = {3, 1, 0.5F}, .title_length = 4};

WordPlaces InBody(std::vector<uint32_t> positions) {
  WordPlaces places;
  places.frequencies[kBody] = static_cast<uint32_t>(positions.size());
  places.positions[kBody] = std::move(positions);
  return places;
}

WordPlaces InTitle(std::vector<uint32_t> positions) {
  WordPlaces places;
  places.frequencies[kTitle] = static_cast<uint32_t>(positions.size());
  places.positions[kTitle] = std::move(positions);
  return places;
}

SecondPhase Only(const SecondPhaseWeights& weights, std::vector<double> idfs) {
  return SecondPhase(weights, 1.5F, std::move(idfs));
}
constexpr SecondPhaseWeights kProximityOnly = {.proximity = 1, .title = 0, .lead = 0};
constexpr SecondPhaseWeights kTitleOnly = {.proximity = 0, .title = 1, .lead = 0};
constexpr SecondPhaseWeights kLeadOnly = {.proximity = 0, .title = 0, .lead = 1};

uint32_t Units(double score) { return static_cast<uint32_t>(std::lround(score * 65536)); }

TEST(SecondPhaseTest, NeighboursWeighAsTheLesserWord) {
  const SecondPhase phase = Only(kProximityOnly, {2, 5});
  const Gain gain = phase.Rate(std::vector{InBody({10}), InBody({11})}, kShape);
  EXPECT_EQ(gain.proximity, Units(2 * 1 / 2.5));
  EXPECT_EQ(gain.units(), gain.proximity);
}

TEST(SecondPhaseTest, DistanceTakesAwayAndEndsAtTheWindow) {
  const SecondPhase phase = Only(kProximityOnly, {2, 2});
  EXPECT_EQ(phase.Rate(std::vector{InBody({10}), InBody({14})}, kShape).proximity,
            Units(2 * 0.25 / 1.75));
  EXPECT_GT(phase.Rate(std::vector{InBody({10}), InBody({18})}, kShape).proximity, 0U);
  EXPECT_EQ(phase.Rate(std::vector{InBody({10}), InBody({19})}, kShape).proximity, 0U);
}

TEST(SecondPhaseTest, OnlyTheQuerysOrderIsNear) {
  const SecondPhase phase = Only(kProximityOnly, {2, 2});
  EXPECT_EQ(phase.Rate(std::vector{InBody({11}), InBody({10})}, kShape).proximity, 0U);
  EXPECT_EQ(phase.Rate(std::vector{InBody({10}), InBody({10})}, kShape).proximity, 0U);
}

TEST(SecondPhaseTest, FieldsDoNotTouchAndCountByTheirNorm) {
  const SecondPhase phase = Only(kProximityOnly, {2, 2});
  EXPECT_EQ(phase.Rate(std::vector{InTitle({0}), InBody({1})}, kShape).proximity, 0U);
  EXPECT_EQ(phase.Rate(std::vector{InTitle({0}), InTitle({1})}, kShape).proximity,
            Units(2 * 3 / 4.5));
}

TEST(SecondPhaseTest, WordsFarApartInTheQueryMakeNoPair) {
  const SecondPhase phase = Only(kProximityOnly, {2, 2, 2, 2, 2});
  std::vector<WordPlaces> words(5);
  words[0] = InBody({10});
  words[3] = InBody({11});
  EXPECT_GT(phase.Rate(words, kShape).proximity, 0U);
  std::swap(words[3], words[4]);
  EXPECT_EQ(phase.Rate(words, kShape).proximity, 0U);
}

TEST(SecondPhaseTest, TitleCountsBySquaredCover) {
  const SecondPhase phase = Only(kTitleOnly, {2, 3});
  EXPECT_EQ(phase.Rate(std::vector{InTitle({0}), InBody({0})}, kShape).title, Units(2.0 / 16));
  EXPECT_EQ(phase.Rate(std::vector{InTitle({0, 2}), InTitle({1})}, kShape).title,
            Units(2 * 9.0 / 16) + Units(3 * 9.0 / 16));
  // The length is rounded; the covered share is never more than 1.
  EXPECT_EQ(phase.Rate(std::vector{InTitle({0, 1, 2, 3, 4}), WordPlaces()}, kShape).title,
            Units(2));
}

TEST(SecondPhaseTest, TitleNeedsNoPositions) {
  const SecondPhase phase = Only(kTitleOnly, {2});
  EXPECT_FALSE(phase.needs_positions());
  WordPlaces word;
  word.frequencies[kTitle] = 4;
  EXPECT_EQ(phase.Rate(std::vector{word}, kShape).title, Units(2));
}

TEST(SecondPhaseTest, LeadHalvesAtTheHalf) {
  const SecondPhase phase = Only(kLeadOnly, {2});
  EXPECT_EQ(phase.Rate(std::vector{InBody({0, 7})}, kShape).lead, Units(2));
  EXPECT_EQ(phase.Rate(std::vector{InBody({10, 11})}, kShape).lead, Units(1));
  EXPECT_EQ(phase.Rate(std::vector{InTitle({0})}, kShape).lead, 0U);
}

TEST(SecondPhaseTest, WordsBeyondTheLimitDoNotCount) {
  const SecondPhase phase = Only(SecondPhaseWeights(), std::vector<double>(1024, 32.0));
  EXPECT_EQ(phase.word_count(), kSecondPhaseWordsMax);
  std::vector<uint32_t> everywhere(4096);
  for (uint32_t i = 0; i < everywhere.size(); ++i) everywhere[i] = i;
  std::vector<WordPlaces> words(phase.word_count(), InBody(everywhere));
  for (WordPlaces& word : words) word.frequencies[kTitle] = UINT32_MAX / 1024;
  const Gain gain = phase.Rate(words, kShape);
  EXPECT_LT(uint64_t{gain.proximity} + gain.title + gain.lead, uint64_t{1} << 31);
}

TEST(SecondPhaseTest, QueryWithoutWordsKeepsTheScores) {
  EXPECT_EQ(Only(SecondPhaseWeights(), {}).Rate({}, kShape), Gain());
}

// Computes the formula directly, pair of positions by pair of positions.
TEST(SecondPhaseTest, RandomPlacesAsTheFormulaSays) {
  std::mt19937_64 random(20261121);
  for (int round = 0; round < 300; ++round) {
    std::vector<WordPlaces> words(1 + random() % 6);
    std::vector<double> idfs;
    for (WordPlaces& word : words) {
      idfs.push_back(static_cast<double>(random() % 1000) / 100);
      for (uint32_t place = 0; place < 60; ++place) {
        if (random() % 5 == 0) word.positions[kBody].push_back(place);
      }
      word.frequencies[kBody] = static_cast<uint32_t>(word.positions[kBody].size());
    }
    double expected = 0;
    for (size_t s = 0; s < words.size(); ++s) {
      for (size_t t = s + 1; t < words.size() && t - s <= 3; ++t) {
        double nearness = 0;
        for (const uint32_t p : words[s].positions[kBody]) {
          for (const uint32_t q : words[t].positions[kBody]) {
            if (q > p && q - p <= 8) nearness += 1.0 / (q - p);
          }
        }
        expected += std::min(idfs[s], idfs[t]) * nearness / (1.5 + nearness);
      }
    }
    const Gain gain = Only(kProximityOnly, idfs).Rate(words, kShape);
    EXPECT_NEAR(ToGain(gain.proximity), expected, 1e-3) << "round " << round;
  }
}

TEST(SecondPhaseWeightsTest, OnlyNumbersInTheirRangeAreValid) {
  EXPECT_TRUE(IsValid(SecondPhaseWeights()));
  EXPECT_TRUE(IsValid(kTitleOnly));
  EXPECT_FALSE(IsValid({.proximity = -0.1F}));
  EXPECT_FALSE(IsValid({.title = 1.5F}));
  EXPECT_FALSE(IsValid({.lead = std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_FALSE(IsValid({.lead_half = 0}));
}

}  // namespace
}  // namespace search::index
