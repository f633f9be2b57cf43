// tools/evaluate on a served search: real processes over 40 pages, asked over HTTP.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "index/core/testing/collection.h"
#include "tools/process/program_run.h"

namespace search::tests {
namespace {

namespace fs = std::filesystem;

constexpr char kPages[] = "tests/search_cluster/testdata/pages.jsonl";
constexpr char kSpec[] = "data/clusters/dev.textproto";

// A judged collection over the 40 pages: known items, a query without an answer, and one whose
// words no single page has.
class ServedEvaluationTest : public testing::Test {
 protected:
  ServedEvaluationTest() {
    fs::copy_file(kPages, folder_.path() + "/pages.jsonl");
    fs::create_directories(folder_.path() + "/collections/pages");
    Write("collections/pages/queries.tsv",
          "a1\twindow functions\na2\tposting list\nb1\tqqqqq\nb2\tvacuum mutex\n");
    Write("collections/pages/qrels.tsv",
          "a1\t0\thttps://pages.example.org/none\t0\n"
          "b1\t0\thttps://git.example.org/git-rebase-1\t1\n"
          "b2\t0\thttps://git.example.org/git-rebase-1\t1\n");
    AddJudgment("a1", "Window functions");
    AddJudgment("a2", "Posting list");
  }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name) << text;
  }

  // Judges the page of that title relevant.
  void AddJudgment(const std::string& query, const std::string& title) const {
    std::ifstream pages(kPages);
    for (std::string line; std::getline(pages, line);) {
      if (line.find("\"title\": \"" + title + "\"") == std::string::npos) continue;
      const size_t begin = line.find("\"url\": \"") + 8;
      std::ofstream qrels(folder_.path() + "/collections/pages/qrels.tsv", std::ios::app);
      qrels << query << "\t0\t" << line.substr(begin, line.find('"', begin) - begin) << "\t1\n";
    }
  }

  tools::ProgramRun Evaluate(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {"tools/evaluate/evaluate",
                                        "--shared_data=" + folder_.path(),
                                        "--collections=pages:pages.jsonl", "--kind_size=1"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const auto run = tools::RunToEnd(command, folder_.path());
    EXPECT_TRUE(run.ok()) << run.status();
    return run.value_or(tools::ProgramRun{.exit_status = -1, .output = ""});
  }

  std::string Floors(const std::string& text) const {
    Write("floors.tsv", text);
    return "--floors=" + folder_.path() + "/floors.tsv";
  }

  index::TemporaryFolder folder_;
};

TEST_F(ServedEvaluationTest, MeasuresWhatUsersGet) {
  const tools::ProgramRun run = Evaluate(
      {"--start=" + std::string(kSpec), "--titles=64",
       Floors("pages.served.a.ndcg10\tat_least\t1\tboth pages come first\n"
              "pages.served.a.empty_share\tat_most\t0\tboth have words of pages\n"
              "pages.served.empty_share\tat_least\t0.25\tone query has no word of a page\n"
              "pages.served.partial_share\tat_most\t0\tall nodes are well\n"
              "pages.titles.served.mrr10\tat_least\t0.95\tfew pages, few of them alike\n"
              "pages.titles.engine.mrr10\tat_least\t0.95\tfew pages, few of them alike\n")});
  EXPECT_EQ(run.exit_status, 0) << run.output;
  EXPECT_NE(run.output.find("served / engine nDCG@10"), std::string::npos) << run.output;
}

TEST_F(ServedEvaluationTest, AFloorThatIsMissedFails) {
  const tools::ProgramRun run =
      Evaluate({"--start=" + std::string(kSpec),
                Floors("pages.served.empty_share\tat_most\t0\tno answer may be empty\n")});
  EXPECT_EQ(run.exit_status, 1) << run.output;
  EXPECT_NE(run.output.find("no answer may be empty"), std::string::npos) << run.output;
}

TEST_F(ServedEvaluationTest, ASearchThatIsNotThereIsAnError) {
  const tools::ProgramRun run = Evaluate({"--served=http://127.0.0.1:1"});
  EXPECT_EQ(run.exit_status, 1) << run.output;
  EXPECT_NE(run.output.find("cannot connect"), std::string::npos) << run.output;
}

}  // namespace
}  // namespace search::tests
