#include "index/core/segment/site_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "index/core/segment/format.h"
#include "index/core/segment/segment_writer.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kDocumentCount = 300;

class SiteListTest : public testing::Test {
 protected:
  // The first `count` documents have this name.
  void AddSite(const std::string& name, uint32_t count) { Add(Segment::SiteKey(name), count); }
  void Add(const std::string& key, uint32_t count) { keys_[key] = count; }

  void Write() {
    const std::string folder = testing::TempDir() + "/site_list_test";
    std::filesystem::create_directories(folder);
    auto writer = SegmentWriter::Create(folder);
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (uint32_t i = 0; i < kDocumentCount; ++i) (*writer)->AddDocument(i, 0, {});
    for (const auto& [key, count] : keys_) {
      (*writer)->BeginTerm(key);
      for (uint32_t i = 0; i < count; ++i) (*writer)->AddPosting(i, {}, {});
      (*writer)->EndTerm();
    }
    ASSERT_TRUE((*writer)->Finish().ok());
    auto segment = Segment::Open(folder);
    ASSERT_TRUE(segment.ok()) << segment.status();
    segment_ = std::move(*segment);
  }

  std::vector<SiteCount> Listed(const LiveDocuments* live,
                                const std::function<bool()>& stop = {}) const {
    const auto sites = ListSites(*segment_, live, stop);
    EXPECT_TRUE(sites.ok()) << sites.status();
    return sites.value_or(std::vector<SiteCount>());
  }

  uint32_t Count(const std::string& name, const LiveDocuments* live) const {
    const auto count = CountSite(*segment_, live, name);
    EXPECT_TRUE(count.ok()) << count.status();
    return count.value_or(0);
  }

 private:
  std::map<std::string, uint32_t> keys_;
  std::unique_ptr<Segment> segment_;
};

TEST_F(SiteListTest, StopsBetweenNames) {
  for (int i = 1000; i < 1200; ++i) AddSite(neptune::StrCat("site", i), 1);
  Write();
  int polls = 0;
  EXPECT_EQ(Listed(nullptr, [&polls] { return ++polls == 3; }).size(), 2 * kSiteKeysPerPoll);
  EXPECT_EQ(Listed(nullptr, [] { return false; }).size(), 200U);
}

TEST_F(SiteListTest, NamesTheSitesOfLiveDocuments) {
  AddSite("docs.python.org", 200);
  AddSite("git", 1);
  Add("word", 100);
  Write();
  EXPECT_THAT(Listed(nullptr), ElementsAre(SiteCount{"docs.python.org", 200}, SiteCount{"git", 1}));
  EXPECT_EQ(Count("git", nullptr), 1u);
  EXPECT_EQ(Count("nosuch", nullptr), 0u);
  LiveDocuments live(kDocumentCount);
  live.Delete(0);
  live.Delete(199);
  live.Delete(250);
  EXPECT_THAT(Listed(&live), ElementsAre(SiteCount{"docs.python.org", 198}));
  EXPECT_EQ(Count("git", &live), 0u);
  EXPECT_EQ(Count("docs.python.org", &live), 198u);
}

TEST_F(SiteListTest, IsEmptyWithoutSites) {
  Add("word", 1);
  Write();
  EXPECT_THAT(Listed(nullptr), IsEmpty());
}

}  // namespace
}  // namespace search::index
