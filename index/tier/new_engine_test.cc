// Checks that the quotations in new_engine.md match the worked example, and that the example is as
// short as the page claims.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace search::index {
namespace {

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file("index/tier/" + path);
  EXPECT_TRUE(file.good()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

using Quote = std::vector<std::string>;

std::vector<Quote> QuotesOf(const std::string& page) {
  std::vector<Quote> quotes;
  bool is_inside = false;
  for (const std::string& line : Lines(page)) {
    if (line == "```cpp") quotes.emplace_back();
    if (is_inside && line != "```") quotes.back().push_back(line);
    is_inside = line == "```cpp" || (is_inside && line != "```");
  }
  return quotes;
}

TEST(NewEngineTest, QuotesWhatStandsInTheExample) {
  std::vector<std::string> example = Lines("xapian/xapian_tier.h");
  const std::vector<std::string> source = Lines("xapian/xapian_tier.cc");
  example.insert(example.end(), source.begin(), source.end());
  const std::vector<Quote> quotes = QuotesOf("new_engine.md");
  EXPECT_GE(quotes.size(), 8u);
  for (const Quote& quote : quotes) {
    ASSERT_FALSE(quote.empty());
    EXPECT_NE(std::search(example.begin(), example.end(), quote.begin(), quote.end()),
              example.end())
        << quote.front();
  }
}

TEST(NewEngineTest, ExampleIsOfAtMost150Lines) {
  EXPECT_LE(Lines("xapian/xapian_tier.h").size() + Lines("xapian/xapian_tier.cc").size(), 150u);
}

}  // namespace
}  // namespace search::index
