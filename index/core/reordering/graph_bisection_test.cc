#include "index/core/reordering/graph_bisection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace search::index {
namespace {

ForwardIndex MakeIndex(const std::vector<std::vector<uint32_t>>& documents) {
  ForwardIndex index;
  for (const auto& terms : documents) {
    for (const uint32_t term : terms) {
      index.terms.push_back(term);
      index.term_count = std::max(index.term_count, term + 1);
    }
    index.starts.push_back(index.terms.size());
  }
  return index;
}

std::vector<uint32_t> GivenOrder(uint32_t document_count) {
  std::vector<uint32_t> order(document_count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Shuffled documents of several topics: most words of a document are of its topic. `by_topic`, if
// given, receives the order by topic.
ForwardIndex Topics(uint32_t document_count, uint32_t topic_count, uint64_t seed,
                    std::vector<uint32_t>* by_topic = nullptr) {
  constexpr uint32_t kTopicWords = 60;
  std::mt19937_64 rng(seed);
  std::vector<std::vector<uint32_t>> documents(document_count);
  std::vector<uint32_t> topics;
  for (auto& terms : documents) {
    const auto topic = static_cast<uint32_t>(rng() % topic_count);
    topics.push_back(topic);
    for (int i = 0; i < 25; ++i) {
      const auto of = rng() % 4 == 0 ? static_cast<uint32_t>(rng() % topic_count) : topic;
      terms.push_back(of * kTopicWords + static_cast<uint32_t>(rng() % kTopicWords));
    }
    std::sort(terms.begin(), terms.end());
    terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
  }
  if (by_topic != nullptr) {
    *by_topic = GivenOrder(document_count);
    std::stable_sort(by_topic->begin(), by_topic->end(),
                     [&](uint32_t a, uint32_t b) { return topics[a] < topics[b]; });
  }
  return MakeIndex(documents);
}

void ExpectPermutation(std::vector<uint32_t> order, uint32_t document_count) {
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, GivenOrder(document_count));
}

TEST(LogGapCostTest, CountsBitsOfGaps) {
  const ForwardIndex index = MakeIndex({{0, 1}, {1}, {0}, {}});
  // Term 0 at 0 and 2, term 1 at 0 and 1: gaps 1, 2, 1, 1.
  EXPECT_EQ(LogGapCost(index, {0, 1, 2, 3}), 1);
  // Term 0 at 2 and 3, term 1 at 0 and 3: gaps 3, 1, 1, 3.
  EXPECT_DOUBLE_EQ(LogGapCost(index, {1, 3, 2, 0}), 2 * std::log2(3));
}

TEST(ReorderDocumentsTest, PutsDocumentsOfATopicTogether) {
  std::vector<uint32_t> by_topic;
  const ForwardIndex index = Topics(4000, 16, 1, &by_topic);
  const double given = LogGapCost(index, GivenOrder(4000));
  const auto order = ReorderDocuments(index);
  ExpectPermutation(order, 4000);
  const double best_known = LogGapCost(index, by_topic);
  EXPECT_LT(LogGapCost(index, order), best_known + 0.02 * (given - best_known));
}

TEST(ReorderDocumentsTest, TwoKindsAreTakenApart) {
  std::mt19937_64 rng(4);
  std::vector<std::vector<uint32_t>> documents;
  std::vector<uint64_t> kinds;
  for (uint32_t i = 0; i < 200; ++i) {
    kinds.push_back(rng() % 2);
    documents.push_back(kinds[i] == 0 ? std::vector<uint32_t>{0, 1, 2}
                                      : std::vector<uint32_t>{3, 4});
  }
  const auto order = ReorderDocuments(MakeIndex(documents), {.part_size_min = 1});
  int changes = 0;
  for (size_t i = 1; i < 200; ++i) changes += kinds[order[i]] != kinds[order[i - 1]] ? 1 : 0;
  // Only one part on each level is mixed; the order of its halves is random.
  EXPECT_LE(changes, 8);
}

TEST(ReorderDocumentsTest, ThreadsDoNotChangeTheOrder) {
  const ForwardIndex index = Topics(3000, 7, 2);
  const auto order = ReorderDocuments(index);
  for (const int thread_count : {2, 3, 8}) {
    EXPECT_EQ(ReorderDocuments(index, {.thread_count = thread_count}), order) << thread_count;
  }
}

TEST(ReorderDocumentsTest, IndistinguishableDocumentsKeepTheirOrder) {
  EXPECT_EQ(ReorderDocuments(ForwardIndex()), GivenOrder(0));
  EXPECT_EQ(ReorderDocuments(MakeIndex({{0}})), GivenOrder(1));
  EXPECT_EQ(ReorderDocuments(MakeIndex(std::vector<std::vector<uint32_t>>(500))), GivenOrder(500));
  const std::vector<std::vector<uint32_t>> equal(500, {0, 1});
  EXPECT_EQ(ReorderDocuments(MakeIndex(equal)), GivenOrder(500));
}

TEST(ReorderDocumentsTest, AnyShapeGivesAPermutation) {
  std::mt19937_64 rng(3);
  for (int round = 0; round < 60; ++round) {
    const auto document_count = static_cast<uint32_t>(rng() % 300);
    std::vector<std::vector<uint32_t>> documents(document_count);
    for (auto& terms : documents) {
      for (uint32_t term = 0; term < 40; ++term) {
        if (rng() % (term + 1) == 0) terms.push_back(term);
      }
    }
    const auto order = ReorderDocuments(MakeIndex(documents),
                                        {.iterations_max = static_cast<int>(rng() % 5),
                                         .part_size_min = static_cast<uint32_t>(1 + rng() % 20),
                                         .thread_count = 1 + static_cast<int>(rng() % 3)});
    ExpectPermutation(order, document_count);
  }
}

}  // namespace
}  // namespace search::index
