#include "tools/publish/publication.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace search::tools {
namespace {

using index::IndexVersion;
using index::VersionList;
using neptune::Status;
using neptune::StatusOr;

const IndexVersion kBase = {"base", ".", 1};
const IndexVersion kNew = {"new", "new", 2};

// Nodes open the versions of the list; the tool may end before any step.
class FakeHost final : public VersionHost {
 public:
  StatusOr<std::optional<VersionList>> Load() override {
    NEPTUNE_RETURN_IF_ERROR(Live());
    return list;
  }
  Status Store(const VersionList& next) override {
    NEPTUNE_RETURN_IF_ERROR(Live());
    // What is asked from now on has to be open everywhere by then.
    if (list && next.current != list->current) {
      EXPECT_TRUE(open.contains(next.current));
    }
    list = next;
    return neptune::OkStatus();
  }
  Status Await(const VersionList& awaited) override {
    NEPTUNE_RETURN_IF_ERROR(Live());
    EXPECT_EQ(awaited, *list);
    open.clear();
    for (const IndexVersion& version : list->versions) {
      if (version.name == broken) return neptune::DataLoss("partition 3 does not open");
      open.insert(version.name);
    }
    return neptune::OkStatus();
  }

  std::optional<VersionList> list;
  std::set<std::string> open = {"base"};
  std::string broken;
  int steps_left = 1000;

 private:
  Status Live() {
    return steps_left-- > 0 ? neptune::OkStatus() : neptune::Cancelled("the publisher has ended");
  }
};

PublishOrder Order(const IndexVersion& version) {
  return {.version = version, .base = kBase, .keep_count = 3};
}

TEST(PublicationTest, VersionIsOpenBeforeItIsAsked) {
  FakeHost host;
  ASSERT_TRUE(Publish(Order(kNew), host).ok());
  EXPECT_EQ(host.list->current, "new");
  EXPECT_EQ(host.list->previous, "base");
}

TEST(PublicationTest, PublishingAgainChangesNothing) {
  FakeHost host;
  ASSERT_TRUE(Publish(Order(kNew), host).ok());
  const VersionList before = *host.list;
  ASSERT_TRUE(Publish(Order(kNew), host).ok());
  EXPECT_EQ(*host.list, before);
}

TEST(PublicationTest, VersionThatDoesNotOpenIsTakenBack) {
  FakeHost host;
  host.broken = "new";
  const Status status = Publish(Order(kNew), host).status();
  EXPECT_EQ(status.code(), neptune::StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("partition 3 does not open"), std::string_view::npos);
  EXPECT_EQ(host.list->current, "base");
  EXPECT_EQ(host.list->Find("new"), nullptr);
}

TEST(PublicationTest, ClusterWithoutAnIndexBeginsWithTheFirst) {
  FakeHost host;
  ASSERT_TRUE(Publish({.version = kNew, .base = std::nullopt, .keep_count = 3}, host).ok());
  EXPECT_EQ(host.list->versions.size(), 1u);
}

TEST(PublicationTest, OldVersionsAreLetGo) {
  FakeHost host;
  for (uint64_t i = 2; i < 8; ++i) {
    ASSERT_TRUE(Publish(Order({"v" + std::to_string(i), "x", i}), host).ok());
  }
  ASSERT_EQ(host.list->versions.size(), 3u);
  EXPECT_EQ(host.list->current, "v7");
  EXPECT_EQ(host.list->previous, "v6");
}

TEST(PublicationTest, GoesBackToTheOneBefore) {
  FakeHost host;
  EXPECT_FALSE(GoBack(host).ok());
  ASSERT_TRUE(Publish(Order(kNew), host).ok());
  ASSERT_TRUE(GoBack(host).ok());
  EXPECT_EQ(host.list->current, "base");
  EXPECT_FALSE(Remove("base", host).ok());
  EXPECT_TRUE(Remove("new", host).ok());
}

TEST(PublicationTest, GoesOnWhereverItIsInterrupted) {
  for (int steps = 0;; ++steps) {
    SCOPED_TRACE(steps);
    FakeHost host;
    host.steps_left = steps;
    (void)Publish(Order(kNew), host);
    const bool ended = host.steps_left < 0;
    if (host.list) {
      EXPECT_TRUE(host.open.contains(host.list->current));
    }
    host.steps_left = 1000;
    ASSERT_TRUE(Publish(Order(kNew), host).ok());
    EXPECT_EQ(host.list->current, "new");
    EXPECT_EQ(host.list->previous, "base");
    if (!ended) return;
  }
}

}  // namespace
}  // namespace search::tools
