#include "index/core/search/tier_bounds.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "index/core/builder/index_builder.h"
#include "index/core/query/query.h"
#include "index/core/search/global_statistics.h"
#include "index/core/search/searcher.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

// Two tiers below a folder, with statistics and bounds.
class Tiers {
 public:
  explicit Tiers(const std::vector<TestDocument>& documents) {
    for (const char* name : {"/1a", "/1b", "/2a", "/2b"}) {
      folders_.push_back(folder_.path() + name);
    }
    for (size_t part = 0; part < folders_.size(); ++part) {
      auto builder = IndexBuilder::Create({.directory = folders_[part]});
      EXPECT_TRUE(builder.ok()) << builder.status();
      for (size_t i = part; i < documents.size(); i += folders_.size()) {
        EXPECT_TRUE((*builder)->Add(documents[i].View()).ok());
      }
      EXPECT_TRUE((*builder)->Finish().ok());
    }
    EXPECT_TRUE(ComputeGlobalStatistics(folders_).ok());
    const auto written = WriteTierBounds({folders_[0], folders_[1]}, {folders_[2], folders_[3]});
    EXPECT_TRUE(written.ok()) << written;
  }

  const std::string& folder(size_t part) const { return folders_[part]; }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> folders_;
};

// Best first score of the word alone in the part, without the static rank.
SearchResult SearchPart(const Tiers& tiers, size_t part, const std::string& word, size_t k) {
  const auto segment = Segment::Open(tiers.folder(part));
  const auto statistics = CollectionStatistics::Open(tiers.folder(part), **segment, {});
  const auto searcher =
      Searcher::Create(**segment, **statistics, RankingOptions{.static_rank_weight = 0});
  const auto result = (*searcher)->Search(*ParseQuery(word), {.k = k, .count_exactly = true});
  EXPECT_TRUE(result.ok()) << result.status();
  return *result;
}

TEST(TierBoundsTest, AreWhatTheBestPostingOfTheOtherTierReaches) {
  const Tiers tiers(ZipfDocuments(400, 3));
  const auto segment = Segment::Open(tiers.folder(0));
  const auto statistics = CollectionStatistics::Open(tiers.folder(0), **segment, {});
  const auto bounds = TierBounds::Open(tiers.folder(0), **segment, {});
  ASSERT_TRUE(bounds.ok()) << bounds.status();
  TermCursor cursor((*segment)->terms());
  int checked = 0;
  while (cursor.Next()) {
    const std::string word(cursor.key());
    const auto query = ParseQuery(word);
    if (!query.ok() || query->root.kind != QueryNode::Kind::kTerm || query->root.term != word) {
      continue;
    }
    float best = 0;
    uint64_t count = 0;
    for (const size_t part : {size_t{2}, size_t{3}}) {
      const SearchResult result = SearchPart(tiers, part, Canonical(*query), 1);
      count += result.total;
      if (!result.hits.empty()) best = std::max(best, result.hits[0].score);
    }
    const uint32_t ordinal = cursor.entry().ordinal;
    const WordBound& bound = (*bounds)->words()[ordinal];
    const TermWeight weight((*statistics)->document_count(),
                            (*statistics)->document_frequencies()[ordinal]);
    ASSERT_EQ(bound.document_count, count) << word;
    ASSERT_EQ(ToScore(weight.Units(bound.impact_max)), best) << word;
    if (++checked == 60) break;
  }
  EXPECT_GT(checked, 20);
}

TEST(TierBoundsTest, KnowsHowMuchOfATitleAWordIs) {
  std::vector<TestDocument> documents(8);
  for (size_t i = 0; i < documents.size(); ++i) {
    documents[i].doc_id = i + 1;
    documents[i].body = "stash git";
  }
  documents[2].title = "stash of the git";  // in a part of tier 2
  documents[0].title = "stash";             // in tier 1
  documents[3].static_rank = 0.75F;
  const Tiers tiers(documents);
  const auto segment = Segment::Open(tiers.folder(1));
  const auto bounds = TierBounds::Open(tiers.folder(1), **segment, {});
  ASSERT_TRUE(bounds.ok()) << bounds.status();
  const auto stash = (*segment)->terms().Find("stash");
  EXPECT_EQ((*bounds)->words()[(*stash)->ordinal].title_share_max, 65536 / 4);
  EXPECT_EQ((*bounds)->words()[(*stash)->ordinal].document_count, 4U);
  EXPECT_EQ((*bounds)->static_rank_max(), 0.75F);
}

TEST(TierBoundsTest, RefusesBoundsOfAnotherSegment) {
  const Tiers tiers(ZipfDocuments(40, 5));
  const auto segment = Segment::Open(tiers.folder(1));
  EXPECT_EQ(TierBounds::Open(tiers.folder(0), **segment, {}).status().code(),
            neptune::StatusCode::kDataLoss);
  EXPECT_EQ(TierBounds::Open(tiers.folder(2), **segment, {}).status().code(),
            neptune::StatusCode::kNotFound);
}

TEST(TierBoundsTest, NoticesDamage) {
  const Tiers tiers(ZipfDocuments(40, 5));
  const std::string path = tiers.folder(0) + "/tier_bounds";
  const auto segment = Segment::Open(tiers.folder(0));
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size) - 70);
    file.put('\x7f');
  }
  const auto flipped = TierBounds::Open(tiers.folder(0), **segment, {});
  std::filesystem::resize_file(path, size / 2);
  const auto cut = TierBounds::Open(tiers.folder(0), **segment, {});
  EXPECT_EQ(flipped.status().code(), neptune::StatusCode::kDataLoss);
  EXPECT_EQ(cut.status().code(), neptune::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace search::index
