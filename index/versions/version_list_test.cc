#include "index/versions/version_list.h"

#include <gtest/gtest.h>

namespace search::index {
namespace {

const IndexVersion kMonday = {"monday", ".", 11};
const IndexVersion kTuesday = {"tuesday", "/srv/tuesday", 22};
const IndexVersion kWednesday = {"wednesday", "wednesday", 33};

VersionList Of(const neptune::StatusOr<VersionList>& list) {
  EXPECT_TRUE(list.ok()) << list.status();
  return list.value_or(VersionList());
}

VersionList Three() {
  VersionList list = Of(FirstVersionList(kMonday));
  list = Of(AddVersion(list, kTuesday));
  list = Of(MakeCurrent(list, "tuesday"));
  return Of(AddVersion(list, kWednesday));
}

TEST(VersionListTest, WrittenListIsReadBack) {
  const VersionList list = Three();
  EXPECT_EQ(Of(ParseVersionList(VersionListJson(list))), list);
  EXPECT_EQ(list.Current(), kTuesday);
}

TEST(VersionListTest, AddedVersionIsNotUsedYet) {
  EXPECT_EQ(Three().current, "tuesday");
  EXPECT_EQ(Three().previous, "monday");
}

TEST(VersionListTest, EveryChangeIsCounted) {
  EXPECT_EQ(Three().change, 4u);
  EXPECT_EQ(Of(AddVersion(Three(), kTuesday)).change, 4u);  // no effect
  EXPECT_EQ(Of(MakeCurrent(Three(), "tuesday")).change, 4u);
}

TEST(VersionListTest, GoesBackAndForward) {
  VersionList list = Of(RollBack(Three()));
  EXPECT_EQ(list.current, "monday");
  EXPECT_EQ(list.previous, "tuesday");
  EXPECT_EQ(Of(RollBack(list)).current, "tuesday");
  EXPECT_FALSE(RollBack(Of(FirstVersionList(kMonday))).ok());
}

TEST(VersionListTest, VersionInUseIsNotRemoved) {
  EXPECT_EQ(RemoveVersion(Three(), "tuesday").status().code(),
            neptune::StatusCode::kFailedPrecondition);
  EXPECT_EQ(RemoveVersion(Three(), "sunday").status().code(), neptune::StatusCode::kNotFound);
  EXPECT_EQ(Of(RemoveVersion(Three(), "monday")).previous, "");
}

TEST(VersionListTest, VersionsNeverChange) {
  EXPECT_FALSE(AddVersion(Three(), {"tuesday", "/srv/tuesday", 44}).ok());
  EXPECT_FALSE(AddVersion(Three(), {"thursday", "/srv/thursday", 22}).ok());
}

TEST(VersionListTest, NamesThatCouldBePathsAreRefused) {
  for (const char* name : {"", ".", "..", "a/b", "a b", ".hidden", "\xff"}) {
    EXPECT_FALSE(AddVersion(Three(), {name, "x", 44}).ok()) << name;
  }
}

TEST(VersionListTest, NeitherCurrentNorPreviousIsSuperfluous) {
  VersionList list = Three();
  EXPECT_TRUE(Superfluous(list, 3).empty());
  EXPECT_EQ(Superfluous(list, 2), (std::vector<std::string>{"wednesday"}));
  list = Of(MakeCurrent(list, "wednesday"));
  EXPECT_EQ(Superfluous(list, 1), (std::vector<std::string>{"monday"}));
  EXPECT_EQ(Superfluous(list, 0), (std::vector<std::string>{"monday"}));
}

TEST(VersionListTest, TooManyVersionsAreRefused) {
  VersionList list = Of(FirstVersionList(kMonday));
  for (uint64_t i = 1; i < kVersionCountMax; ++i) {
    list = Of(AddVersion(list, {"v" + std::to_string(i), "x", 100 + i}));
  }
  EXPECT_FALSE(AddVersion(list, kTuesday).ok());
}

TEST(VersionListTest, DamagedListsAreRefused) {
  const std::string whole = VersionListJson(Three());
  for (size_t size = 0; size + 2 < whole.size(); ++size) {
    EXPECT_FALSE(ParseVersionList(whole.substr(0, size)).ok()) << size;
  }
  for (const auto& [from, to] : {std::pair{"\"format_version\": 1", "\"format_version\": 2"},
                                 std::pair{"\"current\": \"tuesday\"", "\"current\": \"sunday\""},
                                 std::pair{"\"current\": \"tuesday\"", "\"current\": 3"},
                                 std::pair{"\"previous\": \"monday\"", "\"previous\": \"tuesday\""},
                                 std::pair{"\"index_version\": 22", "\"index_version\": 11"},
                                 std::pair{"\"index_version\": 22", "\"index_version\": 0"},
                                 std::pair{"\"name\": \"tuesday\"", "\"name\": \"../x\""}}) {
    std::string text = whole;
    text.replace(text.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(ParseVersionList(text).ok()) << to;
  }
}

}  // namespace
}  // namespace search::index
