#include "frontend/http/access_log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace search::frontend {
namespace {

SearchAnswer SomeAnswer() {
  SearchAnswer answer;
  answer.query = "two\twords \xff";
  answer.trace_id = "0af7651916cd43dd8448eb211c80319c";
  answer.took = std::chrono::milliseconds(250);
  answer.answered_at = {1'700'000'000'250'000'000};
  answer.results.resize(3);
  return answer;
}

TEST(AccessLogTest, LineHasTheOutcome) {
  const auto line = nlohmann::json::parse(AccessLine(SomeAnswer(), "", 503, true));
  EXPECT_EQ(line["time_us"], 1'700'000'000'000'000) << "when it arrived";
  EXPECT_EQ(line["status"], 503);
  EXPECT_EQ(line["took_ms"], 250);
  EXPECT_EQ(line["results"], 3);
  EXPECT_EQ(line["quality"], 1.0);
  EXPECT_EQ(line["trace_id"], "0af7651916cd43dd8448eb211c80319c");
  EXPECT_FALSE(line.contains("class"));
}

TEST(AccessLogTest, PrivateQueriesAreNotInTheLine) {
  EXPECT_EQ(AccessLine(SomeAnswer(), "gold", 200, /*keeps_query=*/false).find("words"),
            std::string::npos);
}

}  // namespace
}  // namespace search::frontend
