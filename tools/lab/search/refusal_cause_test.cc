#include "tools/lab/search/refusal_cause.h"

#include <gtest/gtest.h>

namespace search::lab {
namespace {

TEST(RefusalCauseTest, NamesTheDetailWithoutItsNumbers) {
  EXPECT_EQ(RefusalCause(503, R"({"title": "No", "detail": "queue of store-12 is 64 long"})"),
            "503 queue of store-# is # long");
}

TEST(RefusalCauseTest, NamesTheTitleWhereThereIsNoDetail) {
  EXPECT_EQ(RefusalCause(429, R"({"title": "Too many requests at once", "detail": ""})"),
            "429 Too many requests at once");
  EXPECT_EQ(RefusalCause(429, R"({"title": "Too many", "detail": 7})"), "429 Too many");
}

TEST(RefusalCauseTest, IsTheStatusAloneForOtherBodies) {
  for (const char* body : {"", "{", "[1]", "<html>", "\xff", R"({"title": 1})"}) {
    EXPECT_EQ(RefusalCause(500, body), "500") << body;
  }
}

TEST(RefusalCauseTest, IsBounded) {
  const std::string cause =
      RefusalCause(500, R"({"detail": ")" + std::string(10'000, 'x') + R"("})");
  EXPECT_EQ(cause.size(), kRefusalCauseSizeMax);
}

}  // namespace
}  // namespace search::lab
