#include "neptune/wire/sink_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace neptune {
namespace {

AnswerSink* SinkOf(uint64_t call) { return reinterpret_cast<AnswerSink*>(call * 16); }

TEST(SinkTableTest, FindsAndRemovesByNumber) {
  SinkTable table;
  EXPECT_EQ(table.Find(1), nullptr);
  EXPECT_EQ(table.Remove(1), nullptr);
  table.Add(1, SinkOf(1));
  table.Add(2, SinkOf(2));
  EXPECT_EQ(table.Find(1), SinkOf(1));
  EXPECT_EQ(table.Remove(1), SinkOf(1));
  EXPECT_EQ(table.Remove(1), nullptr);
  EXPECT_EQ(table.Find(1), nullptr);
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.Find(0), nullptr);
  EXPECT_EQ(table.Find(2 + 4096), nullptr) << "the number of another call in this slot";
}

TEST(SinkTableTest, ACallMayOutliveManyOthers) {
  SinkTable table;
  table.Add(1, SinkOf(1));
  for (uint64_t call = 2; call < 100'000; ++call) {
    table.Add(call, SinkOf(call));
    EXPECT_EQ(table.Remove(call), SinkOf(call));
  }
  EXPECT_EQ(table.Find(1), SinkOf(1));
  EXPECT_EQ(table.Remove(1), SinkOf(1));
  EXPECT_TRUE(table.empty());
}

TEST(SinkTableTest, DoesAsAMap) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    SinkTable table;
    std::map<uint64_t, AnswerSink*> expected;
    uint64_t next = 1;
    for (int i = 0; i < 20'000; ++i) {
      const size_t count_max = seed * 700;
      if (expected.size() < count_max && random() % 5 < 3) {
        next += random() % 3 == 0 ? 1 + random() % 10 : 1;
        table.Add(next, SinkOf(next));
        expected[next] = SinkOf(next);
      } else {
        const uint64_t call = 1 + random() % (next + 5);
        const auto found = expected.lower_bound(call);
        const uint64_t removed = found == expected.end() || random() % 4 == 0 ? call : found->first;
        EXPECT_EQ(table.Find(removed), expected.contains(removed) ? expected[removed] : nullptr);
        EXPECT_EQ(table.Remove(removed), expected.contains(removed) ? expected[removed] : nullptr)
            << "seed " << seed << ", step " << i;
        expected.erase(removed);
      }
      ASSERT_EQ(table.size(), expected.size()) << "seed " << seed << ", step " << i;
    }
    std::vector<uint64_t> calls;
    for (const auto& [call, sink] : expected) calls.push_back(call);
    EXPECT_EQ(table.Calls(), calls) << "seed " << seed;
  }
}

}  // namespace
}  // namespace neptune
