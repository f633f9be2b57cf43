#include "tools/evaluate/evaluation.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tools/evaluate/collection_index.h"

namespace search::tools {
namespace {

std::string File(const std::string& name, const std::string& content) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << content;
  return path;
}

TEST(RunFileTest, ReadsWhatItWrites) {
  const RankedLists run = {{"1", {{"x", 2.5}, {"y", 0.1F}}}, {"2", {{"z", 1}}}};
  const std::string path = testing::TempDir() + "/a.run";
  ASSERT_TRUE(WriteRun(path, run, "test").ok());
  const auto read = ReadRun(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, run);
}

TEST(RunFileTest, EqualScoresGoByDescendingId) {
  EXPECT_EQ(DocumentsInOrder({{"a", 1}, {"c", 1}, {"b", 2}}),
            (std::vector<std::string>{"b", "c", "a"}));
}

TEST(RunFileTest, RefusesBadLinesByNumber) {
  for (const char* line : {"1 Q0 d 1 2.5", "1 Q0 d 1 many tag", "1 Q0 d 1 nan tag",
                           "\r1 Q0 d 1 2.5 tag", "1 Q0 d\r 1 2.5 tag"}) {
    const auto run = ReadRun(File("bad.run", std::string("1 Q0 d 1 2.5 t\n") + line + "\n"));
    EXPECT_EQ(run.status().code(), neptune::StatusCode::kInvalidArgument) << line;
    EXPECT_NE(run.status().ToString().find(":2:"), std::string::npos) << run.status();
  }
  EXPECT_FALSE(WriteRun(testing::TempDir() + "/b.run", {{"1", {{"a b", 1}}}}, "t").ok());
}

TEST(JudgedQueriesTest, ReadsBothFormsOfJudgments) {
  const auto judgments = ReadJudgments(File("qrels", "1\td\t2\n1 0 e 1\r\n\n2\tf\t0\n"));
  ASSERT_TRUE(judgments.ok()) << judgments.status();
  EXPECT_EQ(judgments->at("1"), (Judgments{{"d", 2}, {"e", 1}}));
  EXPECT_FALSE(ReadJudgments(File("qrels", "1 d high\n")).ok());
  EXPECT_FALSE(ReadQueries(File("queries", "no tab\n")).ok());
}

TEST(EvaluationTest, AveragesOverTheQueriesWithARelevantDocument) {
  const JudgmentsByQuery judgments = {{"1", {{"a", 1}}}, {"2", {{"b", 1}}}, {"3", {{"c", 0}}}};
  const RankedLists run = {{"1", {{"a", 2}}}, {"3", {{"c", 1}}}};
  const Evaluation evaluation = Evaluate(run, judgments, 1);
  EXPECT_EQ(evaluation.query_count, 2U);
  for (const Estimate& estimate : evaluation.measures) EXPECT_EQ(estimate.mean, 0.5);
}

TEST(EvaluationTest, ComparesQueryByQuery) {
  const JudgmentsByQuery judgments = {{"1", {{"a", 1}}}, {"2", {{"b", 1}}}};
  const RankedLists a = {{"1", {{"x", 2}, {"a", 1}}}, {"2", {{"x", 2}, {"b", 1}}}};
  const RankedLists b = {{"1", {{"a", 2}}}, {"2", {{"b", 2}}}};
  const Estimate difference = Compare(a, b, judgments, 1).measures[2];
  EXPECT_EQ(difference.mean, 0.5);
  EXPECT_EQ(difference.low, 0.5);  // the same for both queries: no width
  EXPECT_EQ(difference.high, 0.5);
}

TEST(CollectionIndexTest, RanksAndExplainsAndIsUsedAgain) {
  const std::string documents = File("docs.jsonl",
                                     "{\"id\": \"x\", \"title\": \"Pears\", \"text\": \"green\"}\n"
                                     "{\"id\": \"e\", \"title\": \"\", \"text\": \"\"}\n"
                                     "{\"id\": \"y\", \"title\": \"\", \"text\": \"an apple\"}\n");
  const std::string folder = testing::TempDir() + "/collection";
  std::filesystem::remove_all(folder);
  for (int round = 0; round < 2; ++round) {
    const auto index = CollectionIndex::Open(documents, folder);
    ASSERT_TRUE(index.ok()) << index.status();
    EXPECT_EQ((*index)->document_count(), 2U);
    const auto ranked = (*index)->Rank("Which pear is NOT an apple?", 10);
    ASSERT_TRUE(ranked.ok()) << ranked.status();
    ASSERT_EQ(ranked->size(), 2U);
    EXPECT_EQ((*ranked)[0].document, "x");
    const auto text = (*index)->Explain("apple", "y");
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_NE(text->find("appl: 1 in query"), std::string::npos) << *text;
    EXPECT_EQ((*index)->Explain("apple", "z").status().code(), neptune::StatusCode::kNotFound);
  }
}

TEST(CollectionIndexTest, CountsAndNamesWhatIsNoDocument) {
  const std::string documents = File("bad.jsonl", "{\"id\": \"x\", \"text\": \"a\"}\n{\n[]\n");
  const std::string folder = testing::TempDir() + "/bad";
  std::filesystem::remove_all(folder);
  const auto index = CollectionIndex::Open(documents, folder);
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ((*index)->document_count(), 1U);
  EXPECT_EQ((*index)->left_out_count(), 2U);
  EXPECT_NE((*index)->first_left_out().find(":2:"), std::string::npos);
}

}  // namespace
}  // namespace search::tools
