#include "neptune/world/faults/fault.h"

#include <gtest/gtest.h>

#include "neptune/world/faults/fault_draw.h"

namespace neptune {
namespace {

using Kind = Fault::Kind;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TimePoint At(Duration time) { return TimePoint(time); }

TEST(FaultTest, HasReadableText) {
  const Fault cut = {.kind = Kind::kCut, .hosts = {"a", "b"}, .others = {"c"}};
  EXPECT_EQ(cut.ToString(), "cut a,b | c");
  const Fault slow = {.kind = Kind::kSlowProcessors, .hosts = {"a"}, .amount = 4};
  EXPECT_EQ(slow.ToString(), "slow_processors a amount=4");
  const FaultSpan span = {At(seconds(1)), At(milliseconds(2500)), slow};
  EXPECT_EQ(span.ToString(), "1-2.5 s slow_processors a amount=4");
}

TEST(FaultTest, TableListsEveryKindOnceInOrder) {
  std::set<std::string> names;
  for (size_t i = 0; i < AllFaultTraits().size(); ++i) {
    const FaultTraits& traits = AllFaultTraits()[i];
    EXPECT_EQ(traits.kind, static_cast<Kind>(i));
    EXPECT_TRUE(names.insert(traits.name).second) << traits.name;
    if (traits.is_exclusive()) {
      EXPECT_EQ(traits.scope, FaultScope::kHost) << traits.name;
    }
  }
}

TEST(FaultTest, TextOfEveryKindIsReadBackExactly) {
  RandomFaultOptions options;
  options.hosts = {"a", "b", "store-3"};
  options.interval_mean = milliseconds(50);
  options.hosts_down_max = 3;
  options.kinds.clear();
  for (const FaultTraits& traits : AllFaultTraits()) options.kinds.push_back(traits.kind);
  RandomSource random(1);
  const FaultSchedule drawn = DrawFaults(random, options);
  std::set<Kind> kinds;
  for (const FaultSpan& span : drawn) kinds.insert(span.fault.kind);
  EXPECT_EQ(kinds.size(), AllFaultTraits().size()) << "not every kind was drawn";
  const StatusOr<FaultSchedule> parsed = ParseFaultSchedule(ToString(drawn));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, drawn);
}

TEST(FaultTest, ParserSkipsCommentsAndSortsByTheBeginnings) {
  const auto parsed = ParseFaultSchedule("# a note\n\n  2-3 s pause b\n0.000000001-9 s leave a");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_EQ(parsed->size(), 2u);
  EXPECT_EQ(
      (*parsed)[0],
      (FaultSpan{At(nanoseconds(1)), At(seconds(9)), {.kind = Kind::kLeave, .hosts = {"a"}}}));
}

TEST(FaultTest, ParserRefusesWhatIsNoFault) {
  for (const char* text :
       {"1-2 s explode a", "1-2 s pause", "1-2 s pause a,b", "1-2 s cut a", "1-2 s cut a |",
        "1-2 s datagram_loss a", "1-2 s pause a amount=many", "2-1 s pause a", "1 s pause a",
        "-1-2 s pause a", "1-nan s pause a", "1-1e9 s pause a", "1-2 pause a", "s",
        "1-2 s pause a b", "1-2 s pause a amount=1"}) {
    EXPECT_EQ(ParseFaultSchedule(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(FaultTest, ChangesAreOrderedByTime) {
  const Fault pause = {.kind = Kind::kPause, .hosts = {"a"}};
  const Fault crash = {.kind = Kind::kCrash, .hosts = {"b"}};
  const auto changes =
      ChangesOf({{At(seconds(1)), At(seconds(4)), pause}, {At(seconds(2)), At(seconds(4)), crash}});
  EXPECT_EQ(changes, (std::vector<FaultChange>{{At(seconds(1)), true, pause},
                                               {At(seconds(2)), true, crash},
                                               {At(seconds(4)), false, pause},
                                               {At(seconds(4)), false, crash}}));
}

}  // namespace
}  // namespace neptune
