#include "neptune/world/faults/fault_draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace neptune {
namespace {

using Kind = Fault::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

RandomFaultOptions ThreeHosts() {
  RandomFaultOptions options;
  options.hosts = {"a", "b", "c"};
  options.interval_mean = milliseconds(500);
  return options;
}

FaultSchedule Draw(uint64_t seed, const RandomFaultOptions& options) {
  RandomSource random(seed);
  return DrawFaults(random, options);
}

TEST(DrawFaultsTest, SameSeedDrawsTheSameSchedule) {
  EXPECT_EQ(Draw(7, ThreeHosts()), Draw(7, ThreeHosts()));
  EXPECT_NE(Draw(7, ThreeHosts()), Draw(8, ThreeHosts()));
}

TEST(DrawFaultsTest, ScheduleIsSortedAndWithinItsHorizon) {
  const FaultSchedule schedule = Draw(1, ThreeHosts());
  ASSERT_GT(schedule.size(), 20u);
  for (size_t i = 0; i < schedule.size(); ++i) {
    if (i > 0) {
      EXPECT_LE(schedule[i - 1].begin, schedule[i].begin);
    }
    EXPECT_LE(schedule[i].begin, schedule[i].end);
    EXPECT_LE(schedule[i].end, ThreeHosts().horizon);
  }
}

TEST(DrawFaultsTest, EqualFaultsDoNotOverlapAndFewHostsAreDown) {
  std::set<Kind> kinds;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::set<std::tuple<Kind, std::set<std::string>, std::set<std::string>>> active;
    std::set<std::string> down;
    for (const FaultChange& change : ChangesOf(Draw(seed, ThreeHosts()))) {
      const Fault& fault = change.fault;
      const FaultTraits& traits = TraitsOf(fault.kind);
      const Kind kind = traits.scope == FaultScope::kSides ? Kind::kCut : fault.kind;
      const std::tuple key(kind, fault.hosts, fault.others);
      kinds.insert(fault.kind);
      if (change.begins) {
        EXPECT_TRUE(active.insert(key).second) << fault.ToString();
        if (traits.is_exclusive()) {
          EXPECT_TRUE(down.insert(*fault.hosts.begin()).second);
        }
      } else {
        EXPECT_EQ(active.erase(key), 1u) << fault.ToString();
        if (traits.is_exclusive()) {
          EXPECT_EQ(down.erase(*fault.hosts.begin()), 1u);
        }
      }
      EXPECT_LE(down.size(), 1u) << "more hosts are down than allowed";
    }
    EXPECT_TRUE(active.empty());
  }
  EXPECT_EQ(kinds.size(), ThreeHosts().kinds.size()) << "not every kind was drawn";
}

// Supports some kinds and causes none.
class SomeKinds final : public FaultTarget {
 public:
  explicit SomeKinds(std::set<Kind> kinds) : kinds_(std::move(kinds)) {}
  bool Supports(Kind kind) const override { return kinds_.contains(kind); }
  Status Begin(const Fault&) override { return OkStatus(); }
  Status End(const Fault&) override { return OkStatus(); }

 private:
  const std::set<Kind> kinds_;
};

TEST(NemesisKindsTest, AreThoseThatTheTargetSupports) {
  const std::vector<Kind> kinds =
      NemesisKinds(SomeKinds({Kind::kCrash, Kind::kBlockedLog, Kind::kLeave}));
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), Kind::kBlockedLog), 1);
  EXPECT_GT(std::count(kinds.begin(), kinds.end(), Kind::kCrash), 1) << "drawn more often";
  EXPECT_EQ(std::set<Kind>(kinds.begin(), kinds.end()),
            (std::set<Kind>{Kind::kCrash, Kind::kBlockedLog}));
}

TEST(NemesisKindsTest, EveryKindOfDiskFaultIsDrawn) {
  std::set<Kind> all;
  for (const FaultTraits& traits : AllFaultTraits()) all.insert(traits.kind);
  const std::vector<Kind> kinds = NemesisKinds(SomeKinds(all));
  for (const FaultTraits& traits : AllFaultTraits()) {
    const bool is_of_disk = traits.needs == FaultNeeds::kStorage;
    if (!is_of_disk) continue;
    EXPECT_GT(std::count(kinds.begin(), kinds.end(), traits.kind), 0) << traits.name;
  }
}

TEST(DrawSwarmTest, HostsRecoverBetweenExclusiveFaults) {
  const TimePoint end = TimePoint(seconds(20));
  const Duration recovery = seconds(1);
  std::set<Kind> kinds;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomSource random(seed);
    const FaultSchedule schedule = DrawSwarm(
        random, {.hosts = {"a", "b", "c"},
                 .host_kinds = {{Kind::kLeave, {"a", "b", "c"}}, {Kind::kHang, {"a", "b"}}},
                 .begin = TimePoint(seconds(1)),
                 .end = end,
                 .recovery_min = recovery});
    std::map<std::string, TimePoint> free_at;
    for (const FaultSpan& span : schedule) {
      EXPECT_LE(span.end, end);
      kinds.insert(span.fault.kind);
      if (!span.traits().is_exclusive()) continue;
      EXPECT_GE(span.begin, free_at[span.host()]) << "seed " << seed;
      free_at[span.host()] = span.end + recovery;
    }
  }
  EXPECT_EQ(kinds.size(), RandomFaultOptions().kinds.size() + 2);
}

TEST(DrawSwarmTest, SeedsHaveKindsAndDensitiesOfTheirOwn) {
  std::set<size_t> sizes;
  std::set<std::set<Kind>> kinds;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RandomSource random(seed);
    const FaultSchedule schedule =
        DrawSwarm(random, {.hosts = {"a", "b"}, .begin = {}, .end = TimePoint(seconds(20))});
    sizes.insert(schedule.size());
    std::set<Kind> drawn;
    for (const FaultSpan& span : schedule) drawn.insert(span.fault.kind);
    kinds.insert(drawn);
  }
  EXPECT_GT(sizes.size(), 5u);
  EXPECT_GT(kinds.size(), 10u);
}

}  // namespace
}  // namespace neptune
