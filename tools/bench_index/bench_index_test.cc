#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench_index/answer_check.h"
#include "tools/bench_index/comparison.h"
#include "tools/bench_index/game_query.h"
#include "tools/bench_index/index_bench.h"
#include "tools/bench_index/timing_table.h"
#include "tools/streams/byte_source.h"

namespace search::tools {
namespace {

using Kind = index::QueryNode::Kind;

TEST(GameQueryTest, ReadsAllOfAnyOfAndPhrase) {
  const auto all = ParseGameQuery("+griffith +Observatory").root;
  ASSERT_EQ(all.kind, Kind::kAnd);
  EXPECT_EQ(all.children[1].term, "observatory");
  EXPECT_EQ(ParseGameQuery("griffith observatory").root.kind, Kind::kOr);
  const auto phrase = ParseGameQuery("\"the who\"").root;
  ASSERT_EQ(phrase.kind, Kind::kPhrase);
  EXPECT_EQ(phrase.phrase[1].position, 1u);
  EXPECT_EQ(ParseGameQuery("the").root.kind, Kind::kTerm);
  EXPECT_EQ(ParseGameQuery("u.s.").root.kind, Kind::kPhrase);
}

TEST(GameQueryTest, OptionalPartsBesideRequiredOnesOnlyScore) {
  const auto root = ParseGameQuery("+a b c").root;
  ASSERT_EQ(root.kind, Kind::kAnd);
  ASSERT_EQ(root.children.size(), 2u);
  EXPECT_EQ(root.children[0].term, "a");
  ASSERT_EQ(root.children[1].kind, Kind::kOr);
  ASSERT_EQ(root.children[1].children.size(), 3u);
  EXPECT_EQ(root.children[1].children[0].occurrences, 0u);
  EXPECT_EQ(root.children[1].children[1].occurrences, 1u);
}

TEST(GameQueryTest, Excludes) {
  const auto root = ParseGameQuery("+python -snake -\"monty flying\"").root;
  ASSERT_EQ(root.kind, Kind::kAnd);
  ASSERT_EQ(root.children.size(), 3u);
  EXPECT_EQ(root.children[1].kind, Kind::kNot);
  EXPECT_EQ(root.children[2].children[0].kind, Kind::kPhrase);
}

TEST(GameQueryTest, NothingButSignsOrExclusionsIsNothing) {
  for (const char* text : {"", " + - ", "\"", "-a", "\"\" +"}) {
    EXPECT_EQ(ParseGameQuery(text).root.kind, Kind::kNothing) << text;
  }
  EXPECT_EQ(ParseGameQuery("a a").root.kind, Kind::kTerm);
}

TEST(GameQueryTest, Classes) {
  EXPECT_EQ(ClassOf("the"), QueryClass::kTerm);
  EXPECT_EQ(ClassOf("+a +b"), QueryClass::kIntersection);
  EXPECT_EQ(ClassOf("a b"), QueryClass::kUnion);
  EXPECT_EQ(ClassOf("\"a b\""), QueryClass::kPhrase);
  EXPECT_EQ(ClassOf("+a b"), QueryClass::kMixed);
  EXPECT_EQ(ClassOf("+\"a b\" +c"), QueryClass::kMixed);
  EXPECT_EQ(ClassOf("+a -b"), QueryClass::kNegated);
}

TEST(GameQueryTest, AUnionOfThreeToTenWordsIsALongOneToo) {
  EXPECT_EQ(ClassesOf("a b"), (std::vector<QueryClass>{QueryClass::kUnion}));
  EXPECT_EQ(ClassesOf("a b a b"), (std::vector<QueryClass>{QueryClass::kUnion}));
  const std::vector<QueryClass> both = {QueryClass::kUnion, QueryClass::kLongUnion};
  EXPECT_EQ(ClassesOf("a b c"), both);
  EXPECT_EQ(ClassesOf("a b c d e f g h i j"), both);
  EXPECT_EQ(ClassesOf("a b c d e f g h i j k"), (std::vector<QueryClass>{QueryClass::kUnion}));
  EXPECT_EQ(ClassesOf("+a +b +c"), (std::vector<QueryClass>{QueryClass::kIntersection}));
}

class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}

  neptune::StatusOr<size_t> Read(char* buffer, size_t size) override {
    const size_t taken = text_.copy(buffer, size, at_);
    at_ += taken;
    return taken;
  }
  uint64_t file_position() const override { return at_; }

 private:
  const std::string text_;
  size_t at_ = 0;
};

class IndexBenchTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = testing::TempDir() + "/bench_index";
    TextSource documents(
        "{\"id\":\"x\",\"title\":\"Apple\",\"text\":\"pear pear\"}\n"
        "{\"id\":\"y\",\"title\":\"apple\",\"text\":\"fig\"}\n"
        "{\"id\":\"z\",\"text\":\"pear fig plum\"}\n");
    ASSERT_TRUE(BuildBenchIndex(folder, &documents).ok());
    auto index = BenchIndex::Open(folder);
    ASSERT_TRUE(index.ok()) << index.status();
    index_ = std::move(*index);
  }

  std::string Answer(const std::string& line) {
    const auto command = ParseBenchCommand(line);
    EXPECT_TRUE(command.ok()) << command.status();
    const auto result = index_->Run(*command);
    EXPECT_TRUE(result.ok()) << result.status();
    return index_->Answer(*command, *result);
  }

  std::unique_ptr<BenchIndex> index_;
};

TEST_F(IndexBenchTest, CountsAndPrintsHits) {
  EXPECT_EQ(Answer("COUNT\tpear"), "2\t");
  EXPECT_EQ(Answer("COUNT\t\"apple pear\""), "1\t");
  EXPECT_EQ(Answer("COUNT\tpear -fig"), "1\t");
  EXPECT_EQ(Answer("TOP_10\tplum").substr(0, 4), "-\tz:");
  EXPECT_EQ(Answer("TOP_10\tquince"), "-\t");
}

TEST_F(IndexBenchTest, ARequiredWordBesideOptionalOnesScoresOnce) {
  EXPECT_EQ(Answer("TOP_10\t+plum fig"), Answer("TOP_10\t+plum +fig"));
  EXPECT_EQ(Answer("TOP_1\t+apple pear"), Answer("TOP_1\tapple pear"));
}

constexpr char kNames[] = "engine\tcommand\tquery\tcount\tmin_us\tp50_us\tmean_us\n";

TEST(TimingTableTest, KeepsTheLeastTimeOfEveryFile) {
  TimingTable table;
  const std::string names = kNames;
  ASSERT_TRUE(table.AddTsv(names + "ours\tCOUNT\ta b\t1\t20\t21\t22\n").ok());
  ASSERT_TRUE(table.AddTsv(names + "ours\tCOUNT\ta b\t1\t10\t31\t32\n").ok());
  ASSERT_TRUE(table.AddTsv(names + "peer\tCOUNT\ta b\t1\t30\t31\t32\n").ok());
  EXPECT_EQ(table.engines(), (std::vector<std::string>{"ours", "peer"}));
  const auto& engines = table.times().at({"COUNT", QueryClass::kUnion});
  EXPECT_EQ(engines.at("ours").at("a b"), 10);
  EXPECT_EQ(engines.at("peer").at("a b"), 30);
}

TEST(TimingTableTest, AQueryStandsUnderEachOfItsClasses) {
  TimingTable table;
  table.Add("ours", "TOP_10", "a b c", 5);
  EXPECT_EQ(table.times().count({"TOP_10", QueryClass::kUnion}), 1u);
  EXPECT_EQ(table.times().count({"TOP_10", QueryClass::kLongUnion}), 1u);
}

TEST(TimingTableTest, RefusesOtherLines) {
  TimingTable table;
  EXPECT_FALSE(table.AddTsv("names\nours\tCOUNT\ta\t1\tx\t1\t1\n").ok());
  EXPECT_FALSE(table.AddTsv("names\nours\tCOUNT\ta\n").ok());
}

// Two queries of the class `any of two words`.
void AddTimes(const std::string& engine, const std::string& command, double first, double second,
              TimingTable* table) {
  table->Add(engine, command, "a b", first);
  table->Add(engine, command, "c d", second);
}

TEST(ComparisonTest, TakesTheGeometricMeanToTheBestPeer) {
  TimingTable table;
  AddTimes("ours", "COUNT", 10, 10, &table);
  AddTimes("fast", "COUNT", 20, 80, &table);
  AddTimes("slow", "COUNT", 90, 90, &table);
  const auto rows = Compare(table, "ours", {});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].peer, "fast");
  EXPECT_DOUBLE_EQ(rows[0].times_faster, 4);
  EXPECT_EQ(rows[0].query_count, 2u);
  EXPECT_EQ(rows[0].peer_p99, 80);
}

TEST(ComparisonTest, APeerThatAnswersFewQueriesIsNotTheBest) {
  TimingTable table;
  AddTimes("ours", "COUNT", 10, 10, &table);
  AddTimes("full", "COUNT", 90, 90, &table);
  table.Add("half", "COUNT", "a b", 1);
  EXPECT_EQ(Compare(table, "ours", {})[0].peer, "full");
}

TEST(ComparisonTest, ReachesABoundOnlyWithATailThatIsNoWorse) {
  TimingTable table;
  AddTimes("ours", "COUNT", 1, 50, &table);
  AddTimes("peer", "COUNT", 20, 40, &table);
  auto rows = Compare(table, "ours", {});
  ASSERT_EQ(rows[0].bound, 2);
  EXPECT_DOUBLE_EQ(rows[0].times_faster, 4);
  EXPECT_FALSE(rows[0].ReachesBound());
  EXPECT_NE(FormatComparison(rows).find("missed, p99 worse"), std::string::npos);
  AddTimes("ours", "COUNT", 1, 40, &table);
  rows = Compare(table, "ours", {});
  EXPECT_TRUE(rows[0].ReachesBound());
  EXPECT_EQ(CountBounds(rows).reached, 1u);
}

TEST(ComparisonTest, WithoutAPeerABoundIsNeitherReachedNorCounted) {
  TimingTable table;
  AddTimes("ours", "COUNT", 1, 1, &table);
  const auto rows = Compare(table, "ours", {});
  EXPECT_FALSE(rows[0].ReachesBound());
  EXPECT_EQ(CountBounds(rows).asked, 0u);
  EXPECT_TRUE(Compare(table, "other", {}).empty());
}

TEST(SpeedBoundTest, AsksMoreOfReorderedIndexesAndOfWordSequences) {
  EXPECT_EQ(SpeedBound("TOP_10", QueryClass::kUnion, {}), 1.5);
  EXPECT_EQ(SpeedBound("TOP_10", QueryClass::kUnion, {.reordered = true}), 2);
  EXPECT_EQ(SpeedBound("TOP_100", QueryClass::kIntersection, {}), 1.2);
  EXPECT_EQ(SpeedBound("TOP_10", QueryClass::kPhrase, {}), 1);
  EXPECT_EQ(SpeedBound("TOP_10", QueryClass::kPhrase, {.word_sequences = true}), 1.5);
}

TEST(SpeedBoundTest, AsksNothingOfSingleWordsAndOtherCommands) {
  EXPECT_EQ(SpeedBound("TOP_10", QueryClass::kTerm, {}), 0);
  EXPECT_EQ(SpeedBound("TOP_1000", QueryClass::kUnion, {}), 0);
  EXPECT_EQ(SpeedBound("COUNT", QueryClass::kLongUnion, {}), 0);
}

constexpr char kCommands[] = "COUNT\ta\nTOP_2\ta b\nTOP_2\tc d\n";

TEST(AnswerCheckTest, EqualAnswersAgree) {
  const std::string answers = "3\t\n-\tx:2.0 y:1.0\n-\t\n";
  const auto rows = CompareAnswers(kCommands, answers, answers);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_TRUE((*rows)[0].Agrees() && (*rows)[1].Agrees());
  EXPECT_EQ((*rows)[0].counts, 1u);
  EXPECT_EQ((*rows)[1].query_class, QueryClass::kUnion);
  EXPECT_EQ((*rows)[1].answered, 2u);
  EXPECT_EQ((*rows)[1].common_hits, 2u);
}

TEST(AnswerCheckTest, FindsOtherCountsListsAndScores) {
  const auto rows =
      CompareAnswers(kCommands, "3\t\n-\tx:2.0 y:1.0\n-\tz:1.0\n", "4\t\n-\ty:1.0 v:1.0\n-\t\n");
  ASSERT_TRUE(rows.ok());
  EXPECT_FALSE((*rows)[0].Agrees());
  EXPECT_EQ((*rows)[0].first_difference, "a: count 3, the peer's 4");
  EXPECT_EQ((*rows)[1].equal_lengths, 1u);
  EXPECT_EQ((*rows)[1].common_hits, 1u);
  EXPECT_DOUBLE_EQ((*rows)[1].score_difference_max, 1);
  EXPECT_EQ((*rows)[1].first_difference, "c d: 1 hits, the peer's 0");
  EXPECT_NE(FormatAgreement(*rows).find("TOP_2         union"), std::string::npos);
}

TEST(AnswerCheckTest, LeavesOutWhatAnEngineCannotDo) {
  const auto rows = CompareAnswers("COUNT\ta\n", "3\t\n", "UNSUPPORTED\n");
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0].answered, 0u);
}

TEST(AnswerCheckTest, RefusesWhatIsNoAnswer) {
  EXPECT_FALSE(CompareAnswers(kCommands, "3\t\n", "3\t\n").ok());
  EXPECT_FALSE(CompareAnswers("COUNT\ta\n", "3\n", "3\t\n").ok());
  EXPECT_FALSE(CompareAnswers("TOP_1\ta\n", "-\tx\n", "-\t\n").ok());
  EXPECT_FALSE(CompareAnswers("TOP_1\ta\n", "-\tx:nan\n", "-\t\n").ok());
}

TEST(PercentileTest, IsAValueOfTheList) {
  EXPECT_EQ(Percentile({}, 0.5), 0);
  EXPECT_EQ(Percentile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(Percentile({3, 1, 2}, 0.99), 3);
}

}  // namespace
}  // namespace search::tools
