#include "tools/cache_sim/trace_input.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tools/cache_sim/request_line.h"

namespace search::tools {
namespace {

std::string WriteFile(const std::string& name, const std::string& content) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << content;
  return path;
}

const AnswerTable kAnswers = AnswerTable::OfOne({.size = 500, .cost_us = 70});

TEST(RequestLineTest, ReadsACommonLogLine) {
  const auto page = ParseCommonLogLine(
      "199.72.81.55 - - [01/Jul/1995:00:00:01 -0400] \"GET /history/apollo/ HTTP/1.0\" 200 6245");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->time_s, 804571201u);
  EXPECT_EQ(page->path, "/history/apollo/");
  EXPECT_EQ(page->status, 200u);
  EXPECT_EQ(page->size, 6245u);
  EXPECT_TRUE(page->is_get);
}

TEST(RequestLineTest, ReadsWhatOldServersLogged) {
  const std::string time = "h - - [01/Jul/1995:00:00:01 -0400] ";
  const auto unchanged = ParseCommonLogLine(time + "\"GET /a.gif\" 304 -");
  ASSERT_TRUE(unchanged.ok()) << unchanged.status();
  EXPECT_EQ(unchanged->path, "/a.gif");
  EXPECT_EQ(unchanged->size, 0u);
  const auto quoted = ParseCommonLogLine(time + "\"GET /\"a\" HTTP/1.0\" 404 -");
  ASSERT_TRUE(quoted.ok()) << quoted.status();
  EXPECT_EQ(quoted->path, "/\"a\"");
  EXPECT_FALSE(ParseCommonLogLine(time + "\"HEAD / HTTP/1.0\" 200 5")->is_get);
  EXPECT_FALSE(ParseCommonLogLine(time + "\"GET / HTTP/1.0\" 200").ok());
  EXPECT_FALSE(ParseCommonLogLine(time + "\"GET / HTTP/1.0 200 5").ok());
  EXPECT_FALSE(ParseCommonLogLine("h - - \"GET / HTTP/1.0\" 200 5").ok());
}

TEST(RequestLineTest, ReadsASizedLine) {
  const auto request = ParseSizedLine("17 abc\t1200 35");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->time_s, 17u);
  EXPECT_EQ(request->id, "abc");
  EXPECT_EQ(request->weight.size, 1200u);
  EXPECT_EQ(request->weight.cost_us, 35u);
  EXPECT_EQ(ParseSizedLine("1 2 3")->weight.cost_us, 0u);
  for (const char* const bad : {"", "1", "1 2", "1 2 0", "1 2 x", "-1 2 3", "1 2 3 4 5", "1 2 3.5",
                                "1 2 99999999999999999999"}) {
    EXPECT_FALSE(ParseSizedLine(bad).ok()) << bad;
  }
}

TEST(TraceInputTest, DetectsFormats) {
  EXPECT_EQ(*DetectFormat(WriteFile("queries", "#neptune-trace v1\n0\ta\tq\n")),
            RequestFormat::kQueries);
  EXPECT_EQ(*DetectFormat(WriteFile("log", "h - - [01/Jul/1995:00:00:01 -0400] \"GET /\" 200 1\n")),
            RequestFormat::kCommonLog);
  EXPECT_EQ(*DetectFormat(WriteFile("sized", "1 2 3\n")), RequestFormat::kSized);
  EXPECT_FALSE(DetectFormat(WriteFile("empty", "")).ok());
}

TEST(TraceInputTest, ReadsQueriesWithTheirAnswers) {
  CacheTrace trace;
  const std::string path = WriteFile("q", "#neptune-trace v1\n0\ta\tx\n5\ta\ty\n9\tb\tx\n");
  const auto counts =
      ReadRequests(path, RequestFormat::kQueries, BadLines::kFail, kAnswers, &trace);
  ASSERT_TRUE(counts.ok()) << counts.status();
  ASSERT_EQ(trace.request_count(), 3u);
  EXPECT_EQ(trace.key_count(), 2u);
  EXPECT_EQ(trace.KeyOf(0), trace.KeyOf(2));
  EXPECT_EQ(trace.TimeOf(1), 5u);
  EXPECT_EQ(trace.WeightOf(0).size, 500u);
  EXPECT_TRUE(trace.has_costs());
  EXPECT_EQ(trace.NextUses(), (std::vector<uint32_t>{2, CacheTrace::kNever, CacheTrace::kNever}));
}

TEST(TraceInputTest, KeepsThePagesOfALogThatACacheWouldKeep) {
  const std::string begin = "h - - [01/Jul/1995:00:00:0";
  const std::string path =
      WriteFile("clf", begin + "1 -0400] \"GET /early HTTP/1.0\" 304 0\n" +    // size not known yet
                           begin + "1 -0400] \"GET /a HTTP/1.0\" 200 100\n" +  //
                           begin + "2 -0400] \"GET /a HTTP/1.0\" 304 -\n" +  // a hit of the browser
                           begin + "3 -0400] \"POST /a HTTP/1.0\" 200 9\n" +    //
                           begin + "4 -0400] \"GET /none HTTP/1.0\" 404 -\n" +  //
                           "nonsense\n");
  CacheTrace trace;
  EXPECT_FALSE(
      ReadRequests(path, RequestFormat::kCommonLog, BadLines::kFail, kAnswers, &trace).ok());
  trace = {};
  const auto counts =
      ReadRequests(path, RequestFormat::kCommonLog, BadLines::kCount, kAnswers, &trace);
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(counts->skipped_count, 3u);
  EXPECT_EQ(counts->bad_line_count, 1u);
  EXPECT_NE(counts->first_bad_line.find("clf:6: "), std::string::npos) << counts->first_bad_line;
  ASSERT_EQ(trace.request_count(), 2u);
  EXPECT_EQ(trace.key_count(), 1u);
  EXPECT_EQ(trace.WeightOf(0).size, 100u);
  EXPECT_EQ(trace.TimeOf(1) - trace.TimeOf(0), 1'000'000u);
  EXPECT_FALSE(trace.has_costs());
}

TEST(AnswerTableTest, GivesAQueryTheSameRowAlways) {
  const auto table = AnswerTable::Read(WriteFile("answers", "# measured\n100\t5\n200\t6\n"));
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->row_count(), 2u);
  int large_count = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string query = "query " + std::to_string(i);
    const auto weight = table->AnswerTo(query);
    EXPECT_EQ(weight.size, table->AnswerTo(query).size);
    EXPECT_EQ(weight.cost_us, weight.size == 100 ? 5u : 6u);
    large_count += weight.size == 200 ? 1 : 0;
  }
  EXPECT_NEAR(large_count, 500, 80);
}

TEST(AnswerTableTest, RefusesWhatIsNotATable) {
  for (const char* const bad : {"", "# nothing\n", "5\n", "0\t1\n", "a\t1\n", "1\t2\t3\n"}) {
    EXPECT_FALSE(AnswerTable::Read(WriteFile("bad", bad)).ok()) << bad;
  }
}

}  // namespace
}  // namespace search::tools
