#include "neptune/wire/http/http_pipeline.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/wire/incoming_call.h"

namespace neptune {
namespace {

const TimePoint kNow = TimePoint() + std::chrono::seconds(1);

std::string Request(std::string_view method, std::string_view target) {
  return StrCat(method, " ", target, " HTTP/1.1\r\nHost: h\r\n\r\n");
}

class HttpPipelineTest : public testing::Test {
 protected:
  // Takes all requests that may start; returns their targets.
  std::string TakeAll() {
    std::string targets;
    while (pipeline_.MayTake()) {
      std::optional<HttpPipeline::Taken> taken = pipeline_.Take(kNow);
      if (!taken) break;
      EXPECT_EQ(taken->request.received, kNow);
      numbers_.push_back(taken->number);
      targets += taken->request.target;
    }
    return targets;
  }
  // Answers the request that was taken as the i-th.
  void Answer(size_t i) { pipeline_.Answer(numbers_[i], HttpResponse::Text(200, StrCat(i))); }
  // Removes all answers that may be sent; returns their bodies.
  std::string TakeAnswers() {
    std::string bodies;
    while (std::optional<HttpPipeline::Slot> slot = pipeline_.TakeAnswered(kNow)) {
      bodies += slot->response->body;
    }
    return bodies;
  }

  HttpPipeline pipeline_{{.reader = {}, .in_flight_count_max = 3}};
  std::vector<uint64_t> numbers_;
};

TEST_F(HttpPipelineTest, AnswersLeaveInTheOrderOfTheRequests) {
  pipeline_.Feed(Request("GET", "/a") + Request("GET", "/b") + Request("HEAD", "/c"));
  EXPECT_EQ(TakeAll(), "/a/b/c");
  Answer(2);
  Answer(1);
  EXPECT_EQ(TakeAnswers(), "");
  Answer(0);
  EXPECT_EQ(TakeAnswers(), "012");
  EXPECT_TRUE(pipeline_.empty());
}

TEST_F(HttpPipelineTest, TakesAtMostTheLimitInFlight) {
  for (const char* target : {"/a", "/b", "/c", "/d"}) pipeline_.Feed(Request("GET", target));
  EXPECT_EQ(TakeAll(), "/a/b/c");
  EXPECT_FALSE(pipeline_.MayTake());
  Answer(0);
  EXPECT_EQ(TakeAnswers(), "0");
  EXPECT_EQ(TakeAll(), "/d");
}

TEST_F(HttpPipelineTest, AnUnsafeRequestWaitsForThoseBeforeItAndRunsAlone) {
  pipeline_.Feed(Request("GET", "/a") + Request("PUT", "/b") + Request("GET", "/c"));
  EXPECT_EQ(TakeAll(), "/a");
  EXPECT_TRUE(pipeline_.holds());
  EXPECT_FALSE(pipeline_.MayTake());
  Answer(0);
  EXPECT_EQ(TakeAnswers(), "0");
  EXPECT_EQ(TakeAll(), "/b");
  EXPECT_FALSE(pipeline_.MayTake());
  Answer(1);
  EXPECT_EQ(TakeAnswers(), "1");
  EXPECT_EQ(TakeAll(), "/c");
}

TEST_F(HttpPipelineTest, TakesNothingAfterARequestThatClosesTheConnection) {
  pipeline_.Feed("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" + Request("GET", "/b"));
  EXPECT_EQ(TakeAll(), "/a");
  EXPECT_TRUE(pipeline_.last_taken());
  Answer(0);
  EXPECT_FALSE(pipeline_.TakeAnswered(kNow)->context.keep_alive);
}

TEST_F(HttpPipelineTest, TakesOneRequestIfAskedTo) {
  HttpPipeline pipeline({.reader = {}, .takes_one = true});
  pipeline.Feed(Request("GET", "/a") + Request("GET", "/b"));
  EXPECT_EQ(pipeline.Take(kNow)->request.target, "/a");
  EXPECT_FALSE(pipeline.MayTake());
}

TEST_F(HttpPipelineTest, ALastAnswerLeavesAfterAllOthers) {
  pipeline_.Feed(Request("GET", "/a") + "nonsense\r\n\r\n");
  EXPECT_EQ(TakeAll(), "/a");
  ASSERT_TRUE(pipeline_.read_error());
  pipeline_.AnswerLast(HttpResponse::Text(400, "last"), kNow);
  EXPECT_FALSE(pipeline_.MayTake());
  EXPECT_EQ(TakeAnswers(), "");
  Answer(0);
  EXPECT_EQ(TakeAnswers(), "0last");
}

TEST_F(HttpPipelineTest, IgnoresAnAnswerToARequestThatIsGone) {
  pipeline_.Feed(Request("GET", "/a"));
  EXPECT_EQ(TakeAll(), "/a");
  pipeline_.Clear();
  Answer(0);
  EXPECT_EQ(TakeAnswers(), "");
}

TEST_F(HttpPipelineTest, ClearCancelsTheCallsOfUnansweredRequestsOnly) {
  pipeline_.Feed(Request("GET", "/a") + Request("GET", "/b"));
  std::vector<std::shared_ptr<IncomingCall>> calls;
  for (int i = 0; i < 2; ++i) {
    numbers_.push_back(pipeline_.Take(kNow)->number);
    calls.push_back(std::make_shared<IncomingCall>());
    pipeline_.SetCall(calls.back());
  }
  Answer(1);
  size_t slot_count_at_cancel = 9;
  calls[0]->OnCancel([&] { slot_count_at_cancel = pipeline_.empty() ? 0 : 1; });
  pipeline_.Clear();
  EXPECT_TRUE(calls[0]->cancelled());
  EXPECT_FALSE(calls[1]->cancelled());
  EXPECT_EQ(slot_count_at_cancel, 0u);
}

TEST_F(HttpPipelineTest, AHeldAnswerKeepsThoseAfterItAndNewRequests) {
  pipeline_.Feed(Request("GET", "/a") + Request("GET", "/b") + Request("GET", "/c"));
  numbers_.push_back(pipeline_.Take(kNow)->number);
  numbers_.push_back(pipeline_.Take(kNow)->number);
  Answer(1);
  const TimePoint later = kNow + std::chrono::seconds(1);
  EXPECT_TRUE(pipeline_.Answer(numbers_[0], HttpResponse::Text(503, "held"), later));
  EXPECT_EQ(pipeline_.held_count(), 1u);
  EXPECT_EQ(pipeline_.NextRelease(), later);
  EXPECT_FALSE(pipeline_.MayTake());
  EXPECT_EQ(TakeAnswers(), "");
  EXPECT_EQ(pipeline_.TakeAnswered(later)->response->body, "held");
  EXPECT_EQ(pipeline_.held_count(), 0u);
  EXPECT_EQ(pipeline_.NextRelease(), kNever);
  EXPECT_EQ(TakeAnswers(), "1");
  EXPECT_EQ(TakeAll(), "/c");
  pipeline_.Answer(numbers_[2], HttpResponse::Text(503, "last"), later);
  pipeline_.ReleaseAll();
  EXPECT_EQ(TakeAnswers(), "last");
}

TEST_F(HttpPipelineTest, AsksForTheBodyOnlyWhenAllIsAnswered) {
  pipeline_.Feed(Request("GET", "/a") +
                 "PUT /b HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(TakeAll(), "/a");
  EXPECT_FALSE(pipeline_.ConsumeExpectsContinue());
  Answer(0);
  EXPECT_EQ(TakeAnswers(), "0");
  EXPECT_TRUE(pipeline_.ConsumeExpectsContinue());
  EXPECT_FALSE(pipeline_.ConsumeExpectsContinue());
}

}  // namespace
}  // namespace neptune
