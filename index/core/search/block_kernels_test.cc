// Every variant of the kernels against plain loops, over random input.

#include "index/core/search/block_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

namespace search::index {
namespace {

constexpr uint32_t kSeed = 7;
constexpr size_t kBlockCount = 5 * kDocumentBlockStride;

class BlockKernelsTest : public testing::TestWithParam<const BlockKernels*> {
 protected:
  uint64_t RandomWord() {
    switch (rng_() % 4) {
      case 0:
        return 0;
      case 1:
        return uint64_t{1} << (rng_() % 64);
      case 2:
        return rng_() & rng_() & rng_();
      default:
        return rng_();
    }
  }
  std::vector<uint64_t> RandomWords() {
    std::vector<uint64_t> words(kBlockCount);
    for (uint64_t& word : words) word = RandomWord();
    return words;
  }
  TermWeight RandomWeight() {
    const uint64_t documents = 1 + rng_() % 1'000'000;
    return TermWeight(documents, 1 + rng_() % documents, 1 + rng_() % 3);
  }
  std::vector<Impact> RandomImpacts(size_t count) {
    std::vector<Impact> impacts(count + kImpactPadding);
    for (Impact& impact : impacts) impact = static_cast<Impact>(rng_() % (kImpactMax + 1));
    return impacts;
  }

  std::mt19937_64 rng_{kSeed};
  const BlockKernels& kernels_ = *GetParam();
};

TEST_P(BlockKernelsTest, AddBoundsAddsUpperBytesOfProducts) {
  for (const uint32_t factor : {0U, 1U, 255U, 256U, 1000U, 40'000U}) {
    std::vector<uint8_t> maxima(kBlockCount);
    std::vector<uint16_t> bounds(kBlockCount);
    for (uint8_t& maximum : maxima) maximum = static_cast<uint8_t>(rng_());
    for (uint16_t& bound : bounds) bound = static_cast<uint16_t>(rng_() % 20'000);
    std::vector<uint16_t> expected = bounds;
    for (size_t i = 0; i < kBlockCount; ++i) {
      expected[i] = static_cast<uint16_t>(expected[i] + maxima[i] * factor / 256);
    }
    kernels_.add_bounds(maxima.data(), static_cast<uint16_t>(factor), kBlockCount, bounds.data());
    EXPECT_EQ(bounds, expected);
  }
}

TEST_P(BlockKernelsTest, FindsBlocksOverTheBar) {
  const std::vector<uint64_t> masks = RandomWords();
  std::vector<uint16_t> bounds(kBlockCount);
  for (uint16_t& bound : bounds) bound = static_cast<uint16_t>(rng_() >> (rng_() % 16));
  for (const uint16_t least : {0, 1, 100, 40'000, 65'535}) {
    std::vector<uint32_t> expected;
    std::vector<uint32_t> expected_masked;
    for (uint32_t i = 0; i < kBlockCount; ++i) {
      if (bounds[i] < least) continue;
      expected.push_back(i);
      if (masks[i] != 0) expected_masked.push_back(i);
    }
    std::vector<uint32_t> blocks(kBlockCount + 16);
    blocks.resize(kernels_.find_at_least(bounds.data(), least, kBlockCount, blocks.data()));
    EXPECT_EQ(blocks, expected);
    blocks.resize(kBlockCount + 16);
    blocks.resize(kernels_.find_masked_at_least(bounds.data(), masks.data(), least, kBlockCount,
                                                blocks.data()));
    EXPECT_EQ(blocks, expected_masked);
  }
}

TEST_P(BlockKernelsTest, IntersectsAndCounts) {
  const std::vector<uint64_t> a = RandomWords();
  std::vector<uint64_t> b = RandomWords();
  uint64_t both = 0;
  uint64_t all = 0;
  for (size_t i = 0; i < kBlockCount; ++i) {
    both += static_cast<uint64_t>(std::popcount(a[i] & b[i]));
    all += static_cast<uint64_t>(std::popcount(a[i]));
  }
  EXPECT_EQ(kernels_.count_intersection(a.data(), b.data(), kBlockCount), both);
  EXPECT_EQ(kernels_.count(a.data(), kBlockCount), all);
  kernels_.intersect(a.data(), kBlockCount, b.data());
  EXPECT_EQ(kernels_.count(b.data(), kBlockCount), both);
}

TEST_P(BlockKernelsTest, AddsUnitsOfImpactsInTheOrderOfBits) {
  for (int i = 0; i < 1000; ++i) {
    const uint64_t documents = RandomWord();
    const TermWeight weight = RandomWeight();
    const std::vector<Impact> impacts = RandomImpacts(64);
    alignas(64) std::array<ScoreUnits, kDocumentBlockSize> units;
    for (ScoreUnits& value : units) value = static_cast<ScoreUnits>(rng_() % 1000);
    auto expected = units;
    size_t next = 0;
    for (uint32_t d = 0; d < kDocumentBlockSize; ++d) {
      if ((documents >> d & 1) != 0) expected[d] += weight.Units(impacts[next++]);
    }
    kernels_.add_units(documents, impacts.data(), weight, units.data());
    ASSERT_EQ(units, expected);
    const ScoreUnits least = units[rng_() % 64];
    uint64_t able = 0;
    for (uint32_t d = 0; d < kDocumentBlockSize; ++d) {
      able |= uint64_t{units[d] >= least ? 1U : 0U} << d;
    }
    ASSERT_EQ(kernels_.at_least(units.data(), least), able);
  }
}

TEST_P(BlockKernelsTest, ToUnitsWritesSoManyAndNoMore) {
  for (size_t count = 0; count < 70; ++count) {
    const TermWeight weight = RandomWeight();
    const std::vector<Impact> impacts = RandomImpacts(count);
    std::vector<ScoreUnits> units(count + 1, 77);
    kernels_.to_units(impacts.data(), count, weight, units.data());
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(units[i], weight.Units(impacts[i]));
    ASSERT_EQ(units[count], 77U);
  }
}

TEST_P(BlockKernelsTest, KeepsWhatIsInOrOutOfTheBitmap) {
  const std::vector<uint64_t> documents = RandomWords();
  for (int i = 0; i < 200; ++i) {
    std::vector<uint32_t> ordinals;
    std::vector<ScoreUnits> units;
    for (uint32_t d = static_cast<uint32_t>(rng_() % 50); d < 64 * kBlockCount;
         d += 1 + static_cast<uint32_t>(rng_() % 900)) {
      ordinals.push_back(d);
      units.push_back(static_cast<ScoreUnits>(rng_()));
    }
    const bool wanted = i % 2 == 0;
    std::vector<std::pair<uint32_t, ScoreUnits>> expected;
    for (size_t j = 0; j < ordinals.size(); ++j) {
      if (HoldsDocument(documents.data(), ordinals[j]) == wanted) {
        expected.emplace_back(ordinals[j], units[j]);
      }
    }
    const size_t count = ordinals.size();
    ordinals.resize(count + 16);
    units.resize(count + 16);
    const size_t kept =
        kernels_.keep(documents.data(), wanted, count, ordinals.data(), units.data());
    ASSERT_EQ(kept, expected.size());
    for (size_t j = 0; j < kept; ++j) {
      ASSERT_EQ(ordinals[j], expected[j].first);
      ASSERT_EQ(units[j], expected[j].second);
    }
  }
}

TEST_P(BlockKernelsTest, DocumentsTakeUnitsOfTheirBlocksAndPostings) {
  const std::vector<uint64_t> documents = RandomWords();
  std::vector<uint32_t> firsts(kBlockCount);
  std::vector<uint8_t> maxima(kBlockCount);
  uint32_t posting_count = 0;
  for (size_t i = 0; i < kBlockCount; ++i) {
    firsts[i] = posting_count;
    posting_count += static_cast<uint32_t>(std::popcount(documents[i]));
    maxima[i] = static_cast<uint8_t>(rng_());
  }
  const std::vector<Impact> impacts = RandomImpacts(posting_count);
  const ImpactList list{.documents = documents.data(),
                        .firsts = firsts.data(),
                        .maxima = maxima.data(),
                        .impacts = impacts.data()};
  std::vector<ScoreUnits> units_of(64 * kBlockCount, 0);
  const TermWeight weight = RandomWeight();
  for (uint32_t d = 0, next = 0; d < units_of.size(); ++d) {
    if (HoldsDocument(documents.data(), d)) units_of[d] = weight.Units(impacts[next++]);
  }
  for (int round = 0; round < 100; ++round) {
    std::vector<uint32_t> ordinals;
    for (uint32_t d = static_cast<uint32_t>(rng_() % 300); d < units_of.size();
         d += 1 + static_cast<uint32_t>(rng_() % 600)) {
      ordinals.push_back(d);
    }
    std::vector<ScoreUnits> bounds(ordinals.size(), 5);
    std::vector<ScoreUnits> units(ordinals.size(), 9);
    kernels_.add_block_units(maxima.data(), weight, ordinals.data(), ordinals.size(),
                             bounds.data());
    kernels_.add_units_of(list, weight, ordinals.data(), ordinals.size(), units.data());
    for (size_t i = 0; i < ordinals.size(); ++i) {
      ASSERT_EQ(bounds[i], 5 + weight.Units(FromImpactBound(maxima[ordinals[i] / 64])));
      ASSERT_EQ(units[i], 9 + units_of[ordinals[i]]);
    }
  }
}

TEST_P(BlockKernelsTest, ChoosesByBound) {
  for (size_t count = 0; count < 100; ++count) {
    std::vector<ScoreUnits> bounds(count);
    std::vector<uint32_t> ordinals(count);
    std::vector<ScoreUnits> units(count);
    for (size_t i = 0; i < count; ++i) {
      bounds[i] = static_cast<ScoreUnits>(rng_() % 8) << 29;
      ordinals[i] = static_cast<uint32_t>(rng_());
      units[i] = static_cast<ScoreUnits>(rng_());
    }
    const ScoreUnits least = static_cast<ScoreUnits>(rng_() % 8) << 29;
    const ScoreUnits end = static_cast<ScoreUnits>(rng_() % 8) << 29;
    std::vector<uint32_t> chosen(count + 16);
    std::vector<ScoreUnits> chosen_units(count + 16);
    const size_t found =
        kernels_.choose(bounds.data(), {least, end}, {ordinals.data(), units.data(), count},
                        chosen.data(), chosen_units.data());
    size_t expected = 0;
    for (size_t i = 0; i < count; ++i) {
      if (bounds[i] < least || bounds[i] >= end) continue;
      ASSERT_EQ(chosen[expected], ordinals[i]);
      ASSERT_EQ(chosen_units[expected++], units[i]);
    }
    ASSERT_EQ(found, expected);
  }
}

TEST_P(BlockKernelsTest, FindsPlacesInSortedNumbers) {
  for (size_t size = 0; size < 200; size += 1 + size / 9) {
    std::vector<uint32_t> sorted(size);
    for (uint32_t& value : sorted) value = static_cast<uint32_t>(rng_() % 1000);
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::vector<uint32_t> ordinals(size / 2 + 3);
    for (uint32_t& value : ordinals) value = static_cast<uint32_t>(rng_() % 1100);
    std::sort(ordinals.begin(), ordinals.end());
    std::vector<uint32_t> expected;
    for (const uint32_t ordinal : ordinals) {
      expected.push_back(static_cast<uint32_t>(
          std::lower_bound(sorted.begin(), sorted.end(), ordinal) - sorted.begin()));
    }
    sorted.resize(sorted.size() + 16, UINT32_MAX);
    std::vector<uint32_t> places(ordinals.size());
    kernels_.find(ordinals.data(), ordinals.size(), sorted.data(), places.data());
    ASSERT_EQ(places, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(AllSets, BlockKernelsTest,
                         testing::ValuesIn(AllKernels().begin(), AllKernels().end()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace search::index
