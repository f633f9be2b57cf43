#include "index/versions/open_versions.h"

#include <gtest/gtest.h>

#include <set>

namespace search::index {
namespace {

class OpenVersionsTest : public testing::Test {
 protected:
  neptune::Status Take(const VersionList* list) {
    return versions_.Take(list, [this](const IndexVersion& version, neptune::Status* status) {
      opened_.push_back(version.folder);
      if (broken_.contains(version.name)) *status = neptune::DataLoss("broken");
      return std::make_shared<std::string>(version.name);
    });
  }

  VersionList list_ = *FirstVersionList({"one", ".", 1});
  OpenVersions<std::string> versions_;
  std::vector<std::string> opened_;
  std::set<std::string> broken_;
};

TEST_F(OpenVersionsTest, MissingListGivesOneVersionWithoutANumber) {
  ASSERT_TRUE(Take(nullptr).ok());
  EXPECT_EQ(*versions_.Find(0), "");
  EXPECT_EQ(versions_.Find(1), nullptr);
}

TEST_F(OpenVersionsTest, NewOnesAreOpenedOnceAndTheCurrentOneIsTheDefault) {
  list_ = *AddVersion(list_, {"two", "2", 2});
  ASSERT_TRUE(Take(&list_).ok());
  ASSERT_TRUE(Take(&list_).ok());
  EXPECT_EQ(opened_, (std::vector<std::string>{".", "2"}));
  EXPECT_EQ(*versions_.Find(0), "one");
  EXPECT_EQ(*versions_.Find(2), "two");
  list_ = *MakeCurrent(list_, "two");
  ASSERT_TRUE(Take(&list_).ok());
  EXPECT_EQ(*versions_.Find(0), "two");
  EXPECT_EQ(*versions_.Find(1), "one");
}

TEST_F(OpenVersionsTest, RemovedOneIsUsedToItsEnd) {
  list_ = *AddVersion(list_, {"two", "2", 2});
  ASSERT_TRUE(Take(&list_).ok());
  const auto held = versions_.Find(2);
  list_ = *RemoveVersion(list_, "two");
  ASSERT_TRUE(Take(&list_).ok());
  EXPECT_EQ(versions_.Find(2), nullptr);
  EXPECT_EQ(*held, "two");
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(OpenVersionsTest, VersionThatDoesNotOpenIsReportedAndRetried) {
  broken_ = {"two"};
  list_ = *AddVersion(list_, {"two", "2", 2});
  EXPECT_EQ(Take(&list_).code(), neptune::StatusCode::kDataLoss);
  EXPECT_EQ(*versions_.Find(1), "one");
  broken_.clear();
  EXPECT_TRUE(Take(&list_).ok());
  EXPECT_EQ(opened_, (std::vector<std::string>{".", "2", "2"}));
}

TEST_F(OpenVersionsTest, OneIsReplacedUnlessAnotherCameBefore) {
  list_ = *AddVersion(list_, {"two", "2", 2});
  ASSERT_TRUE(Take(&list_).ok());
  const auto old = versions_.Find(2);
  EXPECT_TRUE(versions_.Replace(2, old, std::make_shared<std::string>("two again")));
  EXPECT_EQ(*versions_.Find(2), "two again");
  EXPECT_EQ(*old, "two");
  EXPECT_FALSE(versions_.Replace(2, old, std::make_shared<std::string>("late")));
  EXPECT_FALSE(versions_.Replace(3, old, std::make_shared<std::string>("none")));
  EXPECT_EQ(*versions_.Find(2), "two again");
  EXPECT_EQ(*versions_.Find(1), "one");
}

}  // namespace
}  // namespace search::index
