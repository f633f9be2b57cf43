// Ratios over seeds, verdicts, runs in parallel and the files of a run.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/engine/record.h"
#include "tools/lab/engine/runner.h"

namespace search::lab {
namespace {

TEST(ResultsTest, RatioIsTakenSeedBySeed) {
  const Point a{{"policy", "a"}};
  const Point b{{"policy", "b"}};
  Results results(Length::kFull);
  for (const double noise : {1.0, 10.0, 100.0}) {
    results.Add(a, {{"ms", 2 * noise}});
    results.Add(b, {{"ms", noise}});
  }
  const Estimate ratio = results.MeanRatio(a, b, "ms");
  EXPECT_DOUBLE_EQ(ratio.middle, 2);
  EXPECT_DOUBLE_EQ(ratio.high, 2) << "what both share cancels out";
}

Judgement Judge(Length length, const Estimate& ours) {
  Judgement judgement(length);
  judgement.AtMost("response", "", ours, 10, "ms");
  return judgement;
}

TEST(JudgementTest, FullRunIsJudgedByTheMiddle) {
  EXPECT_TRUE(Judge(Length::kFull, {9.9, 9, 10.8, 5}).holds());
  EXPECT_FALSE(Judge(Length::kFull, {10.1, 9, 11, 5}).holds());
}

TEST(JudgementTest, QuickRunHoldsUnlessTheIntervalDeniesIt) {
  EXPECT_TRUE(Judge(Length::kQuick, {10.1, 9, 11, 5}).holds());
  EXPECT_FALSE(Judge(Length::kQuick, {11, 10.5, 11.5, 5}).holds());
}

TEST(JudgementTest, SmokeRunAsksForTheShapeOnly) {
  Judgement judgement(Length::kSmoke);
  judgement.AtMost("response", "", Estimate::Exact(11), 10);
  EXPECT_FALSE(judgement.holds()) << "nothing was asked";
  judgement.Holds("order", "", "a < b", "a < b", true).Shape();
  EXPECT_TRUE(judgement.holds());
}

TEST(JudgementTest, NumbersThatAreNoneDoNotHold) {
  EXPECT_FALSE(Judge(Length::kFull, Estimate::Exact(std::nan(""))).holds());
  EXPECT_FALSE(Judge(Length::kQuick, Estimate::Exact(std::nan(""))).holds());
}

Experiment Doubling() {
  Experiment experiment;
  experiment.name = "doubling";
  experiment.title = "Twice is <twice>";
  experiment.source = "none";
  experiment.seeds = {1, 2, 4};
  experiment.points = [](Length) {
    return std::vector<Point>{Point{{"x", "1"}}, Point{{"x", "2"}}};
  };
  experiment.run = [](const Point& point, const RunContext& context) {
    return neptune::StatusOr<Measurement>(
        Measurement{{"y", point.Number("x") * static_cast<double>(context.seed)}});
  };
  experiment.judge = [](const Results& results, Judgement* judgement) {
    judgement->Between("ratio", "2",
                       results.MeanRatio(results.points()[1], results.points()[0], "y"), 2, 2);
    judgement->AddPlot({.name = "y",
                        .title = "y over x",
                        .x = {.label = "x"},
                        .y = {.label = "y"},
                        .series = {{"y", {{1, 1}, {2, 2}}}}});
  };
  return experiment;
}

TEST(RunnerTest, EveryPointRunsOnceASeedInItsPlace) {
  std::set<std::pair<std::string, uint64_t>> runs;
  const auto results = RunExperiment(Doubling(), {.first_seed = 5, .thread_count = 3},
                                     [&](const Point& point, uint64_t seed, const Measurement&) {
                                       EXPECT_TRUE(runs.emplace(point.ToString(), seed).second);
                                     });
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(runs.size(), 8u);
  EXPECT_EQ(results->Values(Point{{"x", "2"}}, "y"), (std::vector<double>{10, 12, 14, 16}));
}

TEST(RunnerTest, FailedRunNamesItsPointAndSeed) {
  Experiment experiment = Doubling();
  experiment.run = [](const Point& point,
                      const RunContext& context) -> neptune::StatusOr<Measurement> {
    if (point.Text("x") == "2" && context.seed == 3) return neptune::Unavailable("no luck");
    return Measurement{};
  };
  const auto results = RunExperiment(experiment, {}, [](auto&&...) {});
  EXPECT_EQ(results.status().message(), "doubling x=2 seed 3: no luck");
}

TEST(RunnerTest, UnknownWorldIsRefused) {
  const auto results = RunExperiment(Doubling(), {.world = WorldKind::kReal}, [](auto&&...) {});
  EXPECT_EQ(results.status().code(), neptune::StatusCode::kInvalidArgument);
}

std::string Read(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(RecordTest, FolderHoldsFiguresPlotsAndThePage) {
  const std::filesystem::path out = std::filesystem::path(testing::TempDir()) / "lab_record";
  const std::filesystem::path folder = out / "doubling";
  std::filesystem::create_directories(folder);
  const Experiment experiment = Doubling();
  auto series = SeriesFile::Create(folder / "series.csv");
  ASSERT_TRUE(series.ok());
  const auto results = RunExperiment(experiment, {.length = Length::kQuick},
                                     [&](const Point& point, uint64_t seed, const Measurement& m) {
                                       series->Add(point, seed, m);
                                     });
  ASSERT_TRUE(results.ok());
  ASSERT_TRUE(series->Finish().ok());
  Judgement judgement(Length::kQuick);
  experiment.judge(*results, &judgement);
  const RunFacts facts{.length = Length::kQuick, .seed_count = 2, .revision = "abc"};
  ASSERT_TRUE(WriteRecord(folder, experiment, facts, *results, judgement).ok());
  const auto page = WriteReport(out);
  ASSERT_TRUE(page.ok()) << page.status();

  EXPECT_NE(Read(folder / "series.csv").find("x=2,2,y,4\n"), std::string::npos);
  const std::string json = Read(folder / "result.json");
  EXPECT_NE(json.find("\"revision\": \"abc\""), std::string::npos);
  EXPECT_NE(json.find("\"holds\": true"), std::string::npos);
  const std::string html = Read(*page);
  EXPECT_NE(html.find("Twice is &lt;twice&gt;"), std::string::npos);
  EXPECT_NE(html.find("data:image/svg+xml;base64,"), std::string::npos);
  EXPECT_EQ(html.find("http://"), std::string::npos) << "the page needs no other";
  EXPECT_TRUE(std::filesystem::exists(folder / "y.svg"));
}

TEST(RecordTest, ReportWithoutResultsIsNotFound) {
  EXPECT_EQ(WriteReport(testing::TempDir() + "/nowhere").status().code(),
            neptune::StatusCode::kNotFound);
}

}  // namespace
}  // namespace search::lab
