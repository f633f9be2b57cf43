#include "index/core/partition/merge_policy.h"

#include <gtest/gtest.h>

#include <random>

namespace search::index {
namespace {

using Indices = std::vector<size_t>;

constexpr MergePolicyOptions kOptions = {.merge_count = 3, .documents_min = 10};

TEST(MergePolicyTest, FewSegmentsAreNotMerged) {
  EXPECT_EQ(ChooseMerge({}, kOptions), Indices{});
  const std::vector<SegmentShape> two(2, {.document_count = 5, .live_count = 5});
  EXPECT_EQ(ChooseMerge(two, kOptions), Indices{});
}

TEST(MergePolicyTest, LowestFullLevelIsMergedFirst) {
  const std::vector<SegmentShape> segments = {{90, 90}, {95, 95}, {100, 100}, {1, 1},
                                              {31, 31}, {29, 29}, {2, 2}};
  EXPECT_EQ(ChooseMerge(segments, kOptions), (Indices{3, 5, 6}));
  EXPECT_EQ(ChooseMerge(std::span(segments).first(5), kOptions), (Indices{0, 1, 2}));
}

TEST(MergePolicyTest, SegmentOfDeletedDocumentsIsRewrittenAlone) {
  const std::vector<SegmentShape> segments = {{90, 90}, {90, 59}, {90, 61}, {10, 0}};
  EXPECT_EQ(ChooseMerge(segments, kOptions), Indices{1});
}

TEST(MergePolicyTest, ResultIsNotLargerThanAllowed) {
  MergePolicyOptions options = kOptions;
  options.documents_max = 20;
  const std::vector<SegmentShape> segments(3, {.document_count = 8, .live_count = 8});
  EXPECT_EQ(ChooseMerge(segments, options), Indices{});
}

// Documents arrive in small batches, some are deleted; merges run until the policy asks for no
// more.
TEST(MergePolicyTest, FewSegmentsAndLittleRewriting) {
  std::mt19937_64 rng(8);
  const MergePolicyOptions options = {.merge_count = 4, .documents_min = 10};
  std::vector<SegmentShape> segments;
  uint64_t added = 0;
  uint64_t rewritten = 0;
  for (int batch = 0; batch < 20'000; ++batch) {
    const auto size = static_cast<uint32_t>(1 + rng() % 3);
    added += size;
    segments.push_back({size, size});
    SegmentShape& other = segments[rng() % segments.size()];
    if (other.live_count > 1 && rng() % 4 == 0) --other.live_count;
    for (Indices chosen = ChooseMerge(segments, options); !chosen.empty();
         chosen = ChooseMerge(segments, options)) {
      uint32_t sum = 0;
      for (const size_t i : chosen) sum += segments[i].live_count;
      for (auto at = chosen.rbegin(); at != chosen.rend(); ++at) {
        segments.erase(segments.begin() + static_cast<ptrdiff_t>(*at));
      }
      segments.push_back({sum, sum});
      rewritten += sum;
    }
    ASSERT_LE(segments.size(), 3U * 8) << "at most merge_count - 1 segments in each of 8 levels";
  }
  EXPECT_LT(rewritten, added * 11);  // ten times up the levels, and once for deleted documents
}

}  // namespace
}  // namespace search::index
