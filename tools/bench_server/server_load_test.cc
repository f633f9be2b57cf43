#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tools/bench_server/answer_scan.h"
#include "tools/bench_server/arrivals.h"
#include "tools/bench_server/load_meter.h"
#include "tools/bench_server/request_file.h"

namespace search::tools {
namespace {

using State = AnswerScan::State;
using Scan = AnswerScan (*)(std::string_view, bool);

// Every beginning of the answer is incomplete, and what follows it is not part of it.
void ExpectWhole(Scan scan, const std::string& answer, int status, bool closes) {
  for (size_t size = 0; size < answer.size(); ++size) {
    EXPECT_EQ(scan(answer.substr(0, size), false).state, State::kMore) << size;
    EXPECT_EQ(scan(answer.substr(0, size), true).state, State::kBroken) << size;
  }
  const AnswerScan found = scan(answer + "HTTP/1.1", false);
  EXPECT_EQ(found.state, State::kDone);
  EXPECT_EQ(found.size, answer.size());
  EXPECT_EQ(found.status, status);
  EXPECT_EQ(found.closes, closes);
}

TEST(AnswerScanTest, FindsTheEndOfABodyWithALength) {
  ExpectWhole(&ScanHttpAnswer, "HTTP/1.1 200 OK\r\ncontent-LENGTH: 5\r\n\r\nhello", 200, false);
}

TEST(AnswerScanTest, AnAnswerMayHaveNoBytesOfBody) {
  ExpectWhole(&ScanHttpAnswer,
              "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
              503, true);
}

TEST(AnswerScanTest, FindsTheEndOfAChunkedBody) {
  ExpectWhole(&ScanHttpAnswer,
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\nA\r\n"
              "0123456789\r\n0\r\nTrailer: x\r\n\r\n",
              200, false);
}

TEST(AnswerScanTest, TheEndOfTheConnectionEndsABodyWithoutALength) {
  const std::string answer = "HTTP/1.1 200 OK\r\n\r\nhello";
  EXPECT_EQ(ScanHttpAnswer(answer, false).state, State::kMore);
  const AnswerScan found = ScanHttpAnswer(answer, true);
  EXPECT_EQ(found.state, State::kDone);
  EXPECT_EQ(found.size, answer.size());
  EXPECT_TRUE(found.closes);
}

TEST(AnswerScanTest, RefusesWhatIsNotHttp) {
  for (const char* bytes : {"SSH-2.0-x\r\n\r\n", "HTTP/1.1 abc\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}) {
    EXPECT_EQ(ScanHttpAnswer(bytes, false).state, State::kBroken) << bytes;
  }
}

TEST(AnswerScanTest, FindsTheEndOfARedisReply) {
  ExpectWhole(&ScanRedisAnswer, "*3\r\n:2\r\n$5\r\nhello\r\n*2\r\n$-1\r\n$0\r\n\r\n", 200, false);
  ExpectWhole(&ScanRedisAnswer, "-ERR no such index\r\n", 500, false);
  ExpectWhole(&ScanRedisAnswer, "-LOADING Redis is loading\r\n", 503, false);
}

TEST(AnswerScanTest, RefusesWhatIsNotAReply) {
  for (const char* bytes : {"HTTP/1.1\r\n", "$x\r\n", "*1\r\n?\r\n"}) {
    EXPECT_EQ(ScanRedisAnswer(bytes, false).state, State::kBroken) << bytes;
  }
  std::string deep;
  for (int i = 0; i < kReplyDepthMax + 2; ++i) deep += "*1\r\n";
  EXPECT_EQ(ScanRedisAnswer(deep, false).state, State::kBroken);
}

TEST(RequestFileTest, ReadsRequestsOfAnyBytes) {
  const auto requests = ParseRequests(std::string("3\na\nb4\n\0\r\n1", 11));
  ASSERT_TRUE(requests.ok()) << requests.status();
  EXPECT_EQ(*requests, (std::vector<std::string>{"a\nb", std::string("\0\r\n1", 4)}));
}

TEST(RequestFileTest, NamesTheMalformedRequest) {
  for (const char* bytes : {"", "x", "1\na2\n", "1\na\nb", "0\n", "-1\na", "9999999\na"}) {
    EXPECT_EQ(ParseRequests(bytes).status().code(), neptune::StatusCode::kInvalidArgument) << bytes;
  }
  const std::string message(ParseRequests("1\na5\nbc").status().message());
  EXPECT_NE(message.find("request 2"), std::string::npos);
}

TEST(ArrivalsTest, HaveTheGivenRateAndExponentialGaps) {
  constexpr int kCount = 100'000;
  Arrivals arrivals(1000, /*seed=*/7);
  int64_t last_ns = 0;
  int long_gaps = 0;  // longer than the mean
  for (int i = 0; i < kCount; ++i) {
    EXPECT_GE(arrivals.next_ns(), last_ns);
    long_gaps += arrivals.next_ns() - last_ns > 1'000'000;
    last_ns = arrivals.next_ns();
    arrivals.Advance();
  }
  EXPECT_NEAR(static_cast<double>(last_ns) / 1e9, 100, 1.5);
  EXPECT_NEAR(static_cast<double>(long_gaps) / kCount, std::exp(-1), 0.01);
}

TEST(LoadMeterTest, SeparatesGoodLateAndIncompleteAnswersFromRefusals) {
  LoadMeter meter({.good_ns = 1000, .unwanted_texts = {"\"partial\":true"}});
  meter.CountSent(0);
  meter.CountAnswer(200, "{}", 0, 1000);
  meter.CountAnswer(200, "{}", 0, 1001);
  meter.CountAnswer(200, "{\"partial\":true}", 0, 10);
  meter.CountAnswer(503, "busy", 0, 10);
  meter.CountTimeout();
  meter.CountFailure();
  const nlohmann::json result = meter.ToJson(2);
  EXPECT_EQ(result["sent"], 1);
  EXPECT_EQ(result["answered"], 3);
  EXPECT_EQ(result["good"], 1);
  EXPECT_EQ(result["incomplete"], 1);
  EXPECT_EQ(result["refused"], 1);
  EXPECT_EQ(result["statuses"]["503"], 1);
  EXPECT_EQ(result["timed_out"], 1);
  EXPECT_EQ(result["failed"], 1);
  EXPECT_EQ(result["answers_per_s"], 1.5);
  EXPECT_EQ(result["bytes"], 20);
}

}  // namespace
}  // namespace search::tools
