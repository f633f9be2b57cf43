#include "frontend/http/page_text.h"

#include <gtest/gtest.h>

namespace search::frontend {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

neptune::TimePoint At(milliseconds ms) { return neptune::TimePoint(seconds(100) + ms); }

PageFacts Facts() {
  PageFacts facts;
  facts.computed_at = At(milliseconds(0));
  facts.expires_at = At(seconds(600));
  return facts;
}

TEST(PageTextTest, ARepetitionSaysHowOldItIsAndHowLongItLives) {
  const RepeatedHeaders headers = HeadersOfRepetition(Facts(), At(milliseconds(12'900)));
  EXPECT_EQ(headers.age, "12");
  EXPECT_EQ(headers.cache_status, "pages; hit; ttl=587");
}

TEST(PageTextTest, APageOfAFormerIndexSaysSo) {
  PageFacts facts = Facts();
  facts.is_stale = true;
  EXPECT_EQ(HeadersOfRepetition(facts, At(seconds(70))).cache_status,
            "pages; hit; ttl=0; detail=stale");
}

TEST(PageTextTest, BothFormsOfTheHeadersAreTheSame) {
  PageFacts facts = Facts();
  for (const bool is_stale : {false, true}) {
    facts.is_stale = is_stale;
    for (const int ms : {-5, 0, 999, 1000, 599'999, 700'000}) {
      const RepeatedHeaders headers = HeadersOfRepetition(facts, At(milliseconds(ms)));
      std::string text;
      AppendHeadersOfRepetition(facts, At(milliseconds(ms)), &text);
      EXPECT_EQ(text, "Age: " + headers.age + "\r\nCache-Status: " + headers.cache_status + "\r\n");
    }
  }
}

TEST(PageTextTest, AnAnswerSaysWhereItComesFrom) {
  const auto status = [](const CacheUse& cache) {
    neptune::HttpResponse response;
    SetOrigin(cache, &response);
    EXPECT_EQ(response.headers.Has("Age"), cache.outcome == CacheUse::Outcome::kHit);
    return std::string(response.headers.Get("Cache-Status"));
  };
  using Outcome = CacheUse::Outcome;
  EXPECT_EQ(status({.outcome = Outcome::kHit}), "answers; hit");
  EXPECT_EQ(status({.outcome = Outcome::kHit, .newer_version = 8}),
            "answers; hit; ttl=0; detail=stale");
  EXPECT_EQ(status({.outcome = Outcome::kMiss}), "answers; fwd=miss");
  EXPECT_EQ(status({.outcome = Outcome::kMiss, .is_joined = true}), "answers; fwd=miss; collapsed");
  EXPECT_EQ(status({.outcome = Outcome::kBypassed}), "answers; fwd=bypass");
  EXPECT_EQ(status({.outcome = Outcome::kFailed}), "answers; fwd=bypass");
}

TEST(PageTextTest, AgeIsInWholeSeconds) {
  neptune::HttpResponse response;
  SetOrigin({.outcome = CacheUse::Outcome::kHit, .age = milliseconds(1999)}, &response);
  EXPECT_EQ(response.headers.Get("Age"), "1");
}

TEST(PageTextTest, HeadersOfOneAnswerAreNotRepeated) {
  EXPECT_TRUE(IsOfOneAnswer("traceparent"));
  EXPECT_TRUE(IsOfOneAnswer("age"));
  EXPECT_TRUE(IsOfOneAnswer("Cache-Status"));
  EXPECT_FALSE(IsOfOneAnswer("Cache-Control"));
  EXPECT_FALSE(IsOfOneAnswer("Content-Type"));
}

}  // namespace
}  // namespace search::frontend
