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

Experiment Doubling() {
  Experiment experiment;
  experiment.name = "doubling";
  experiment.title = "Twice is <twice>";
  experiment.source = "none";
  experiment.seeds = {1, 5, 6};
  experiment.points = [](Length) {
    return std::vector<Point>{Point{{"x", "1"}}, Point{{"x", "2"}}};
  };
  experiment.run = [](const Point& point, const RunContext& context) {
    return neptune::StatusOr<Measurement>(
        Measurement{{"y", point.Number("x") * static_cast<double>(context.seed)}});
  };
  experiment.judge = [](const Results& results, Judgement* judgement) {
    judgement->Near("ratio", "2", results.MeanRatio(results.points()[1], results.points()[0], "y"),
                    2, 0.1, "x");
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
  EXPECT_EQ(runs.size(), 12u);
  EXPECT_EQ(results->Values(Point{{"x", "2"}}, "y"), (std::vector<double>{10, 12, 14, 16, 18, 20}));
}

TEST(RunnerTest, RunsAreReportedInTheSameOrderByAnyNumberOfThreads) {
  const auto order_with = [](int thread_count) {
    Experiment experiment = Doubling();
    const auto compute = experiment.run;
    experiment.run = [compute](const Point& point, const RunContext& context) {
      // Later runs are shorter, so that with several threads they end first.
      double waste = 1;
      for (uint64_t i = 0; i < 2'000'000 / (context.seed * context.seed); ++i) waste += 1 / waste;
      auto measurement = compute(point, context);
      (*measurement)["waste"] = waste;
      return measurement;
    };
    std::string order;
    EXPECT_TRUE(RunExperiment(experiment, {.thread_count = thread_count},
                              [&](const Point& point, uint64_t seed, const Measurement&) {
                                order += point.ToString() + "/" + std::to_string(seed) + " ";
                              })
                    .ok());
    return order;
  };
  EXPECT_EQ(order_with(1), order_with(4));
  EXPECT_EQ(order_with(1).find("x=1/1 x=2/1 x=1/2 "), 0u) << order_with(1);
}

// One point whose values are `middle` with alternating deviations.
Experiment Swinging(double middle, double deviation, double line) {
  Experiment experiment = Doubling();
  experiment.seeds = {.smoke = 1, .quick = 5, .full = 5, .most = 40};
  experiment.points = [](Length) { return std::vector<Point>{Point{{"x", "1"}}}; };
  experiment.run = [=](const Point&, const RunContext& context) {
    return neptune::StatusOr<Measurement>(
        Measurement{{"y", middle + (context.seed % 2 == 0 ? deviation : -deviation)}});
  };
  experiment.judge = [=](const Results& results, Judgement* judgement) {
    judgement->AtMost("y", "", results.Mean(Point{{"x", "1"}}, "y"), line);
  };
  return experiment;
}

TEST(RunnerTest, ClearRowEndsAFullRunAtItsFirstLook) {
  const auto run = RunAndJudge(Swinging(1, 0.01, 2), {}, [](auto&&...) {});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->judgement.verdict(), Verdict::kHolds);
  EXPECT_EQ(run->run_count, 5);
  EXPECT_EQ(run->look_count, 1);
}

TEST(RunnerTest, NarrowRowRepeatsUntilItIsDecided) {
  const auto run = RunAndJudge(Swinging(1, 1, 1.7), {}, [](auto&&...) {});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->judgement.verdict(), Verdict::kHolds);
  EXPECT_GT(run->run_count, 5);
  EXPECT_LT(run->run_count, 40);
}

TEST(RunnerTest, RowOnItsLineIsNeitherCalledNorPursued) {
  const auto run = RunAndJudge(Swinging(1, 1, 1.001), {}, [](auto&&...) {});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->judgement.verdict(), Verdict::kNotDecided);
  EXPECT_LT(run->run_count, 40) << "no number of runs within the limit would decide it";
}

TEST(RunnerTest, SeedsThatAreAskedForAreAllThatRun) {
  const auto run = RunAndJudge(Swinging(1, 1, 1.7), {.seed_count = 7}, [](auto&&...) {});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->run_count, 7);
  EXPECT_EQ(run->look_count, 1);
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
  const RunFacts facts{.length = Length::kQuick, .seed_count = 5, .revision = "abc"};
  ASSERT_TRUE(WriteRecord(folder, experiment, facts, *results, judgement).ok());
  const auto page = WriteReport(out);
  ASSERT_TRUE(page.ok()) << page.status();

  EXPECT_NE(Read(folder / "series.csv").find("x=2,2,y,4\n"), std::string::npos);
  const std::string json = Read(folder / "result.json");
  EXPECT_NE(json.find("\"revision\": \"abc\""), std::string::npos);
  EXPECT_NE(json.find("\"holds\": true"), std::string::npos);
  EXPECT_NE(json.find("\"verdict\": \"holds\""), std::string::npos);
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
