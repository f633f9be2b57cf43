#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "frontend/trace/explanation.h"
#include "frontend/trace/search_trace.h"
#include "frontend/trace/trace_log.h"
#include "frontend/trace/trace_spans.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::Duration;
using neptune::OkStatus;
using neptune::StrCat;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Duration Ms(int64_t ms) { return milliseconds(ms); }

// 100 ms: 2 arrival, 3 cache, 10 gate, 60 tier 1 (2 forming, 3 merging, 50 store-1, 5 transit), 20
// documents, 5 own work.
SearchAnswer SomeAnswer() {
  SearchAnswer answer;
  answer.trace_id = std::string(32, 'a');
  answer.query = "two words";
  answer.took = Ms(100);
  answer.steps = {{"arrival", StepKind::kQueue, Ms(0), Ms(2)},
                  {"cache", StepKind::kWait, Ms(3), Ms(6)},
                  {"gate", StepKind::kQueue, Ms(6), Ms(16)},
                  {"tier 1", StepKind::kWait, Ms(17), Ms(77)},
                  {"documents", StepKind::kWait, Ms(78), Ms(98)}};
  ServiceCoverage& tier = answer.coverage.tiers.emplace_back();
  tier.service = "tier 1";
  tier.partitions_asked = 3;
  tier.took = Ms(60);
  tier.forming = Ms(2);
  tier.reducing = Ms(3);
  tier.tree_scheme = "lat";
  tier.tree = {{.node = "store-1",
                .parent = -1,
                .partitions = {0},
                .answered = true,
                .queued = Ms(5),
                .searched = Ms(20),
                .replied = Ms(50),
                .reducing = Ms(4),
                .reduction_count = 1},
               {.node = "store-2",
                .parent = 0,
                .partitions = {1},
                .answered = true,
                .queued = Ms(30),
                .searched = Ms(40),
                .replied = Ms(41)},
               {.node = "store-3",
                .parent = -1,
                .partitions = {2},
                .answered = true,
                .queued = Ms(1),
                .searched = Ms(12),
                .replied = Ms(12)}};
  return answer;
}

SearchTrace TraceOf(const SearchAnswer& answer, const neptune::Status& status = OkStatus()) {
  return MakeTrace(answer, status, "gold", true, true);
}

Duration Part(const SearchTrace& trace, SpanPart part) {
  return PartsOf(trace)[static_cast<size_t>(part)];
}

TEST(TraceSpansTest, PartsSumToTheWhole) {
  const SearchTrace trace = TraceOf(SomeAnswer());
  EXPECT_EQ(Part(trace, SpanPart::kQueue), Ms(2 + 10 + 5));
  EXPECT_EQ(Part(trace, SpanPart::kWork), Ms(5 + 2 + 15));
  EXPECT_EQ(Part(trace, SpanPart::kWait), Ms(3 + 20 + 5 + 26));
  EXPECT_EQ(Part(trace, SpanPart::kMerge), Ms(3 + 4));
  const auto parts = PartsOf(trace);
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), Duration(0)), trace.took);
}

TEST(TraceSpansTest, PartsOfAnyServerSumToItsTime) {
  const std::vector<TraceSpan> spans = SpansOf(TraceOf(SomeAnswer()));
  for (size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].node.empty() || spans[i].part != SpanPart::kWhole) continue;
    Duration sum{0};
    for (const TraceSpan& span : spans) {
      if (span.parent == static_cast<int>(i) && span.part != SpanPart::kWhole) sum += span.duration;
    }
    EXPECT_EQ(sum, spans[i].duration) << spans[i].node;
  }
}

TEST(TraceSpansTest, SpansAreATreeFromTheFrontendDown) {
  const std::vector<TraceSpan> spans = SpansOf(TraceOf(SomeAnswer()));
  ASSERT_FALSE(spans.empty());
  EXPECT_EQ(spans[0].name, "search");
  std::map<std::string, std::string> above;
  for (size_t i = 1; i < spans.size(); ++i) {
    ASSERT_GE(spans[i].parent, 0);
    ASSERT_LT(spans[i].parent, static_cast<int>(i)) << "parents come first";
    const TraceSpan& parent = spans[static_cast<size_t>(spans[i].parent)];
    EXPECT_GE(spans[i].begin, parent.begin) << spans[i].name;
    if (spans[i].part == SpanPart::kWhole) above[spans[i].name] = parent.name;
  }
  EXPECT_EQ(above, (std::map<std::string, std::string>{{"tier 1", "search"},
                                                       {"store-1", "tier 1"},
                                                       {"store-2", "store-1"},
                                                       {"store-3", "tier 1"}}));
}

TEST(TraceSpansTest, TimesThatContradictEachOtherNeverBecomeNegative) {
  SearchAnswer answer = SomeAnswer();
  answer.coverage.tiers[0].tree[0].queued = Ms(500);
  answer.coverage.tiers[0].tree[0].searched = Ms(1);
  answer.coverage.tiers[0].tree[0].reducing = Ms(900);
  answer.coverage.tiers[0].tree[1].parent = 7;
  for (const TraceSpan& span : SpansOf(TraceOf(answer))) {
    EXPECT_GE(span.duration, Duration(0)) << span.name;
  }
}

TEST(TraceSpansTest, CachedAnswerHasNoTierSpans) {
  SearchAnswer answer = SomeAnswer();
  answer.took = Ms(6);
  answer.steps.resize(2);
  const SearchTrace trace = TraceOf(answer);
  EXPECT_EQ(Part(trace, SpanPart::kWait), Ms(3));
  EXPECT_EQ(Part(trace, SpanPart::kMerge), Ms(0));
}

TEST(ExplanationTest, NamesTheStepAndTheServerThatStandsOut) {
  const auto why = Explain(TraceOf(SomeAnswer()));
  EXPECT_THAT(why, Contains(HasSubstr("60 %, in the step 'tier 1'")));
  EXPECT_THAT(why, Contains(HasSubstr("store-2 waited in its queue 30 ms")));
}

TEST(ExplanationTest, NamesWhatIsMissingAndWhy) {
  SearchAnswer answer = SomeAnswer();
  answer.coverage.tiers[0].missing = {{0, "no live replica"}, {2, "no live replica"}};
  EXPECT_THAT(Explain(TraceOf(answer)),
              Contains("Partial: partitions 0, 2 of tier 1 did not contribute: no live replica."));
}

TEST(ExplanationTest, NamesPartitionsEndedEarly) {
  SearchAnswer answer = SomeAnswer();
  answer.coverage.tiers[0].ended_early = {1};
  EXPECT_THAT(Explain(TraceOf(answer)), Contains(HasSubstr("Cut: partition 1 of tier 1")));
}

TEST(ExplanationTest, RefusalHasItsReason) {
  const auto why = Explain(TraceOf(
      SomeAnswer(), neptune::ResourceExhausted("the search was not admitted within 1000 ms")));
  EXPECT_EQ(why.front(), "Refused: the search was not admitted within 1000 ms.");
}

TEST(ExplanationTest, FastAndCompleteIsDescribed) {
  EXPECT_THAT(Explain(TraceOf(SearchAnswer())), ElementsAre("The search was fast and complete."));
}

class TraceLogTest : public testing::Test {
 protected:
  void Keep(const SearchAnswer& answer, const neptune::Status& status = OkStatus(),
            bool sampled = false) {
    log_.Keep(answer, status, "gold", sampled, now_);
  }
  const TraceLog::Kind& Of(const std::string& name) {
    kinds_ = log_.Snapshot();
    for (const TraceLog::Kind& kind : kinds_) {
      if (kind.name == name) return kind;
    }
    ADD_FAILURE() << "no kind " << name;
    return kinds_.front();
  }
  SearchAnswer Named(int number, Duration took) {
    SearchAnswer answer;
    answer.trace_id = StrCat("trace-", number);
    answer.query = "private";
    answer.took = took;
    return answer;
  }

  TraceLog log_{true};
  neptune::TimePoint now_{seconds(100)};
  std::vector<TraceLog::Kind> kinds_;
};

TEST_F(TraceLogTest, FastSearchesDoNotEvictSlowOnes) {
  Keep(Named(0, Ms(700)));
  for (int i = 1; i < 2000; ++i) {
    now_ += Ms(20);
    Keep(Named(i, Ms(1)));
  }
  ASSERT_EQ(Of("500 to 1000 ms").latest.size(), 1u);
  EXPECT_EQ(Of("500 to 1000 ms").latest[0]->id, "trace-0");
  EXPECT_EQ(Of("below 5 ms").latest.size(), TraceLog::kTracesOfKind);
  EXPECT_EQ(Of("below 5 ms").seen_count, 1999u);
  EXPECT_NE(log_.Find("trace-0"), nullptr);
  EXPECT_EQ(log_.Find("trace-1"), nullptr);
}

TEST_F(TraceLogTest, CopiesAreBoundedInASecond) {
  for (int i = 0; i < 1000; ++i) Keep(Named(i, Ms(1)));
  EXPECT_EQ(Of("below 5 ms").latest.size(), size_t{TraceLog::kKeptInSecond});
  EXPECT_EQ(Of("below 5 ms").seen_count, 1000u);
}

TEST_F(TraceLogTest, EverySecondHasRoomForCopiesOfItsOwn) {
  const auto keep = [&](int count) {
    for (int i = 0; i < count; ++i) Keep(Named(i, Ms(1)));
    return Of("below 5 ms").latest.size();
  };
  EXPECT_EQ(keep(4), 4u);
  now_ += Ms(900);
  EXPECT_EQ(keep(20), size_t{TraceLog::kKeptInSecond}) << "the same second";
  now_ += Ms(99);
  EXPECT_EQ(keep(20), size_t{TraceLog::kKeptInSecond});
  now_ += Ms(1);
  EXPECT_EQ(keep(20), 2 * size_t{TraceLog::kKeptInSecond});
  Keep(Named(100, Ms(700)));
  EXPECT_EQ(Of("500 to 1000 ms").latest.size(), 1u) << "another kind";
}

TEST_F(TraceLogTest, SearchesThatAreOnlyCountedAreSeen) {
  log_.Count(Ms(1), false);
  log_.Count(Ms(30), true);
  EXPECT_EQ(Of("below 5 ms").seen_count, 1u);
  EXPECT_EQ(Of("20 to 50 ms").seen_count, 1u);
  EXPECT_EQ(Of("partial").seen_count, 1u);
  EXPECT_TRUE(Of("partial").latest.empty());
}

TEST_F(TraceLogTest, EveryIssueIsItsOwnKind) {
  SearchAnswer partial = Named(1, Ms(1));
  partial.coverage.tiers.emplace_back().missing = {{0, "gone"}};
  Keep(partial);
  SearchAnswer cut = Named(2, Ms(1));
  cut.coverage.tiers.emplace_back().evaluated_completely = false;
  Keep(cut);
  Keep(Named(3, Ms(1)), neptune::ResourceExhausted("full"));
  Keep(Named(4, Ms(1)), neptune::Unavailable("no replica"));
  Keep(Named(5, Ms(1)), neptune::InvalidArgument("parameter q: what?"));
  for (const auto& [name, id] : {std::pair{"partial", "trace-1"}, std::pair{"cut", "trace-2"},
                                 std::pair{"refused", "trace-3"}, std::pair{"failed", "trace-4"}}) {
    ASSERT_EQ(Of(name).latest.size(), 1u) << name;
    EXPECT_EQ(Of(name).latest[0]->id, id);
  }
  EXPECT_EQ(log_.Find("trace-5"), nullptr) << "an invalid request is not kept";
}

TEST_F(TraceLogTest, PrivateQueriesAreNotKept) {
  Keep(Named(1, Ms(1)), OkStatus(), true);
  EXPECT_EQ(log_.Find("trace-1")->query, "private");
  TraceLog without(false);
  without.Keep(Named(2, Ms(1)), OkStatus(), "gold", true, now_);
  EXPECT_EQ(without.Find("trace-2")->query, "");
  EXPECT_EQ(without.Find("trace-2")->service_class, "gold");
}

}  // namespace
}  // namespace search::frontend
