#include "tools/trace/trace_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "frontend/http/access_log.h"
#include "tools/trace/query_import.h"
#include "tools/trace/trace_edit.h"

namespace search::tools {
namespace {

std::string TempFile(const std::string& name, const std::string& content) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << content;
  return path;
}

std::string WithHeader(const std::string& lines) {
  return std::string(kTraceHeader) + "\n" + lines;
}

std::string MessageOf(const neptune::Status& status) {
  return std::string(neptune::ToStd(status.message()));
}

TEST(TraceRecordTest, LineParsesToItsRecord) {
  TraceRecord record;
  ASSERT_TRUE(ParseTraceLine("49700\tgold\ttitle:\"naïve bayes\"", &record).ok());
  EXPECT_EQ(record, (TraceRecord{49'700, "gold", "title:\"naïve bayes\""}));
  std::string line;
  AppendTraceLine(record, &line);
  EXPECT_EQ(line, "49700\tgold\ttitle:\"naïve bayes\"\n");
}

constexpr char kAccessLog[] =
    R"({"time_us":1700000002000000,"class":"gold","query":"second","status":200,"took_ms":1}
{"time_us":1700000000000000,"query":"fir\tst","status":200,"took_ms":2500}
{"time_us":1700000003000000,"class":"bronze","query":"third","status":503}
)";

TEST(TraceFileTest, AccessLogIsATraceInTheOrderOfArrival) {
  const auto trace = ReadTrace(TempFile("access.jsonl", kAccessLog), BadLines::kFail);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->records, (std::vector<TraceRecord>{{0, "default", "fir st"},
                                                      {2'000'000, "gold", "second"},
                                                      {3'000'000, "bronze", "third"}}));
}

TEST(TraceFileTest, LineOfAFrontendIsARecord) {
  frontend::SearchAnswer answer;
  answer.query = "two\twords \xff";
  answer.took = std::chrono::milliseconds(250);
  answer.answered_at = {1'700'000'000'250'000'000};
  TraceRecord record;
  ASSERT_TRUE(ParseAccessLine(frontend::AccessLine(answer, "gold", 200, true), &record).ok());
  EXPECT_EQ(record, (TraceRecord{1'700'000'000'000'000, "gold", "two words \xef\xbf\xbd"}));
  EXPECT_FALSE(ParseAccessLine(frontend::AccessLine(answer, "gold", 200, false), &record).ok());
}

TEST(TraceFileTest, BadLinesOfAnAccessLogAreNamed) {
  for (const std::string line : {"{}", "{\"time_us\":1}", "{\"time_us\":-1,\"query\":\"q\"}", "[1]",
                                 "{\"time_us\":1,", "{\"time_us\":1700000001000000,\"query\":\"\"}",
                                 "{\"time_us\":1700000001000000,\"query\":\"q\",\"class\":7}"}) {
    const std::string path = TempFile("bad.jsonl", kAccessLog + line + "\n");
    const auto strict = ReadTrace(path, BadLines::kFail);
    ASSERT_FALSE(strict.ok()) << line;
    EXPECT_NE(MessageOf(strict.status()).find("bad.jsonl:4"), std::string::npos) << strict.status();
    const auto counted = ReadTrace(path, BadLines::kCount);
    ASSERT_TRUE(counted.ok());
    EXPECT_EQ(counted->bad_line_count, 1u) << line;
    EXPECT_EQ(counted->records.size(), 3u);
  }
}

TEST(TraceRecordTest, MalformedLinesAreRefused) {
  const std::string long_query(TraceLimits::kQuerySizeMax + 1, 'q');
  for (const std::string& line :
       {std::string(""), std::string("1\tgold"), std::string("x\tgold\tq"),
        std::string("-1\tgold\tq"), std::string("1.5\tgold\tq"), std::string("1\tgo ld\tq"),
        std::string("1\t\tq"), std::string("1\tgold\t"), std::string("1\tgold\ta\tb"),
        std::string("1\tgold\ta\rb"), std::string("1\tgold\t\xff"),
        std::string("99999999999999999999\tgold\tq"), std::string("400000000000000\tgold\tq"),
        "1\tgold\t" + long_query, "1\t" + std::string(33, 'c') + "\tq"}) {
    TraceRecord record{7, "kept", "kept"};
    EXPECT_FALSE(ParseTraceLine(line, &record).ok()) << line.substr(0, 40);
    EXPECT_EQ(record, (TraceRecord{7, "kept", "kept"}));
  }
}

TEST(TraceRecordTest, CleanQueryIsOneThatTheFormatHolds) {
  EXPECT_EQ(CleanQuery("  a\tb\r\n c\xff "), "a b c\xef\xbf\xbd");
  EXPECT_EQ(CleanQuery(" \t\n"), "");
  EXPECT_TRUE(CheckTraceQuery(CleanQuery(std::string(10'000, 'x'))).ok());
}

TEST(TraceReaderTest, BadLineFailsWithItsNumber) {
  const std::string path = TempFile("bad", WithHeader("0\tgold\ta\n# a comment\n5\tgold\n"));
  const auto trace = ReadTrace(path, BadLines::kFail);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(MessageOf(trace.status()),
            path + ":4: not three fields (time, class, query) separated by tabs");
}

TEST(TraceReaderTest, BadLinesAreCountedAndPassedOver) {
  const std::string path =
      TempFile("counted", WithHeader("0\tgold\ta\nrubbish\n9\tgold\tb\n5\tgold\tback in time\n" +
                                     std::string(5000, 'x') + "\n9\tgold\tc"));
  const auto trace = ReadTrace(path, BadLines::kCount);
  ASSERT_TRUE(trace.ok()) << trace.status();
  ASSERT_EQ(trace->records.size(), 3u);
  EXPECT_EQ(trace->records[2].query, "c");
  EXPECT_EQ(trace->bad_line_count, 3u);
  EXPECT_TRUE(trace->first_bad_line.starts_with(path + ":3: "));
}

TEST(TraceReaderTest, AnythingElseIsNoTrace) {
  for (const std::string& content : {std::string(""), std::string("0\tgold\ta\n"),
                                     std::string("#neptune-trace v2\n0\tgold\ta\n")}) {
    const auto trace = ReadTrace(TempFile("other", content), BadLines::kCount);
    ASSERT_FALSE(trace.ok());
    EXPECT_NE(MessageOf(trace.status()).find(":1: not a trace"), std::string::npos);
  }
}

TEST(TraceReaderTest, MoreRequestsThanAllowedAreRefused) {
  const std::string path = TempFile("many", WithHeader("0\tgold\ta\n1\tgold\tb\n2\tgold\tc\n"));
  EXPECT_EQ(ReadTrace(path, BadLines::kFail, 2).status().code(),
            neptune::StatusCode::kResourceExhausted);
}

TEST(TraceWriterTest, WhatIsWrittenIsReadBack) {
  for (const char* name : {"/t.trace", "/t.trace.gz", "/t.trace.zst"}) {
    const std::string path = testing::TempDir() + name;
    auto writer = TraceWriter::Create(path);
    ASSERT_TRUE(writer.ok());
    const std::vector<TraceRecord> records = {
        {0, "gold", "a"}, {0, "silver", "b c"}, {7, "x", "é"}};
    ASSERT_TRUE((*writer)->WriteComment("for people").ok());
    for (const TraceRecord& record : records) ASSERT_TRUE((*writer)->Write(record).ok());
    EXPECT_FALSE((*writer)->Write({6, "gold", "back in time"}).ok());
    EXPECT_FALSE((*writer)->Write({8, "gold", "two\nlines"}).ok());
    ASSERT_TRUE((*writer)->Commit().ok());
    const auto trace = ReadTrace(path, BadLines::kFail);
    ASSERT_TRUE(trace.ok()) << trace.status();
    EXPECT_EQ(trace->records, records);
  }
}

std::vector<TraceRecord> Edited(const std::vector<std::string>& paths, const TraceEdit& edit) {
  std::vector<std::unique_ptr<TraceReader>> readers;
  for (const std::string& path : paths) {
    readers.push_back(*TraceReader::Open(path, BadLines::kFail));
  }
  std::vector<TraceRecord> records;
  EXPECT_TRUE(EditTraces(readers, edit, [&](const TraceRecord& record) {
                records.push_back(record);
                return neptune::OkStatus();
              }).ok());
  return records;
}

TEST(TraceEditTest, CutBeginsAtZeroAndScaleDividesTimes) {
  const std::string path =
      TempFile("cut", WithHeader("0\tx\ta\n1000\tx\tb\n1500\tx\tc\n2000\tx\td\n"));
  EXPECT_EQ(Edited({path}, {.from_us = 1000, .to_us = 2000, .speed = 2}),
            (std::vector<TraceRecord>{{0, "x", "b"}, {250, "x", "c"}}));
}

TEST(TraceEditTest, MergeKeepsTheOrderOfTimeAndOfInputs) {
  const std::string first = TempFile("first", WithHeader("0\tx\ta\n10\tx\tc\n"));
  const std::string second = TempFile("second", WithHeader("0\ty\tb\n5\ty\td\n"));
  EXPECT_EQ(
      Edited({first, second}, {}),
      (std::vector<TraceRecord>{{0, "x", "a"}, {0, "y", "b"}, {5, "y", "d"}, {10, "x", "c"}}));
}

constexpr char kLogLine[] =
    "host.example - - [01/Jul/1995:00:00:01 -0400] "
    "\"GET /search?start=0&q=window+functions%21 HTTP/1.0\" 200 6245 \"-\" \"agent\"";

TEST(AccessLogTest, LineGivesTimeAndQuery) {
  const auto entry = ParseAccessLogLine(kLogLine, "q");
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->time_s, 804'571'201);  // date -u -d '1995-07-01 04:00:01' +%s
  EXPECT_EQ(entry->query, "window functions!");
  EXPECT_EQ(ParseAccessLogLine(kLogLine, "other")->query, "");
}

TEST(AccessLogTest, OtherLinesAreRefused) {
  for (const char* line : {"", "no brackets", "h [01/Jul/1995:00:00:01 -0400] no quotes",
                           "h [32/Jul/1995:00:00:01 -0400] \"GET / HTTP/1.0\"",
                           "h [01/uly/1995:00:00:01 -0400] \"GET / HTTP/1.0\""}) {
    EXPECT_FALSE(ParseAccessLogLine(line, "q").ok()) << line;
  }
}

TEST(AccessLogTest, RequestsOfASecondAreSpreadOverIt) {
  std::string log = kLogLine;
  log += std::string("\n") + kLogLine +
         "\nh - - [01/Jul/1995:00:00:03 -0400] \"GET /?q=b HTTP/1.0\" 200\n";
  log += "h - - [01/Jul/1995:00:00:04 -0400] \"GET /image.gif HTTP/1.0\" 200\nrubbish\n";
  std::vector<uint64_t> times;
  const auto counts = ImportAccessLog(TempFile("log", log), {.bad_lines_fail = false},
                                      [&](const TraceRecord& record) {
                                        times.push_back(record.time_us);
                                        return neptune::OkStatus();
                                      });
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(times, (std::vector<uint64_t>{0, 500'000, 2'000'000}));
  EXPECT_EQ(counts->without_query, 1u);
  EXPECT_EQ(counts->bad_lines, 1u);
  EXPECT_FALSE(ImportAccessLog(TempFile("log", log), {}, [](const TraceRecord&) {
                 return neptune::OkStatus();
               }).ok());
}

TEST(QueryListTest, LinesAreCleanedAndBlankOnesLeftOut) {
  const auto queries = ReadQueryList(TempFile("list", "one\n\n  two\twords \r\n"));
  ASSERT_TRUE(queries.ok());
  EXPECT_EQ(*queries, (std::vector<std::string>{"one", "two words"}));
  EXPECT_FALSE(ReadQueryList(TempFile("empty", "\n \n")).ok());
}

TEST(CorpusQueriesTest, AreDistinctAndRepeatable) {
  const std::string path = TempFile(
      "corpus.jsonl",
      "{\"id\":\"1\",\"title\":\"window functions tutorial\",\"text\":\"rows of a partition are "
      "numbered by their order within the frame\"}\n");
  const auto once = QueriesOfCorpus(path, 20, 3);
  ASSERT_TRUE(once.ok()) << once.status();
  EXPECT_EQ(once->size(), 20u);
  EXPECT_EQ(*once, *QueriesOfCorpus(path, 20, 3));
}

TEST(CorpusQueriesTest, TooFewWordsAreAnError) {
  const std::string path =
      TempFile("few.jsonl", "{\"id\":\"1\",\"title\":\"alpha\",\"text\":\"alpha\"}\n");
  EXPECT_FALSE(QueriesOfCorpus(path, 20, 3).ok());
}

}  // namespace
}  // namespace search::tools
