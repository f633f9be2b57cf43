#include "tools/mtrr/prediction.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tools/mtrr/service_profile.h"

namespace search::tools {
namespace {

ServiceProfile Profiled() {
  ServiceProfile profile{.service = "index", .service_class = "gold", .load = "a test"};
  const auto truth = *neptune::Speedup::Make(0.14, 23);
  for (const int threads : {1, 2, 4, 8, 16, 23, 32, 48}) {
    const double throughput = 50 * truth.At(threads);
    profile.points.push_back({threads, throughput, 0.9 * throughput, 1.1 * throughput});
  }
  profile.processor_s = 0.0049;
  EXPECT_TRUE(CompleteProfile(&profile).ok());
  return profile;
}

TEST(ServiceProfileTest, IsReadAsItWasWritten) {
  const ServiceProfile profile = Profiled();
  EXPECT_EQ(profile.recommended_threads, 23);
  const ServiceProfile again = *ParseProfile(ProfileJson(profile), "profile");
  EXPECT_EQ(again.service, "index");
  EXPECT_EQ(again.service_class, "gold");
  EXPECT_EQ(again.processor_s, 0.0049);
  ASSERT_EQ(again.points.size(), profile.points.size());
  EXPECT_EQ(again.points[3].throughput_high, profile.points[3].throughput_high);
  EXPECT_EQ(again.fit.speedup.saturation_point(), 23);
  EXPECT_NEAR(again.fit.speedup.alpha(), 0.14, 1e-9);
  EXPECT_NEAR(again.fit.service_rate, 50, 1e-6);
  EXPECT_EQ(again.recommended_threads, 23);
}

TEST(ServiceProfileTest, AFileThatIsNoneIsRefusedByItsName) {
  for (const char* text : {"", "{", "[]", "{}", R"({"points":[]})", R"({"points":[1]})",
                           R"({"points":[{"threads":1,"throughput":50}]})",
                           R"({"points":[{"threads":0.5,"throughput":50}]})",
                           R"({"points":[{"threads":1,"throughput":50},{"threads":2}]})"}) {
    const auto refused = ParseProfile(text, "old.json");
    EXPECT_EQ(refused.status().code(), neptune::StatusCode::kInvalidArgument) << text;
    EXPECT_TRUE(refused.status().message().find("old.json") != std::string::npos);
  }
}

TEST(ServiceProfileTest, TextSaysWhatWasFound) {
  const std::string text = ProfileText(Profiled());
  EXPECT_NE(text.find("23 threads reach 97 % of the best"), std::string::npos) << text;
  EXPECT_NE(text.find("each further one adds 0.14"), std::string::npos) << text;
}

PredictionOptions Options() {
  const ServiceProfile profile = Profiled();
  return {.service_rate = profile.fit.service_rate,
          .speedup = profile.fit.speedup,
          .thread_counts = {8, 23},
          .queue_length_max = 128,
          .rate_max = 300,
          .rate_count = 30};
}

TEST(PredictionTest, EveryLineIsTheModels) {
  const auto lines = *Predict(Options());
  ASSERT_EQ(lines.size(), 2u);
  ASSERT_EQ(lines[1].points.size(), 30u);
  EXPECT_EQ(lines[1].points[9].arrival_rate, 100);
  EXPECT_DOUBLE_EQ(
      lines[1].points[9].model.response_s,
      neptune::PredictResponse({100, Options().service_rate, Options().speedup, 23, 128})
          ->response_s);
  EXPECT_DOUBLE_EQ(lines[0].quantum_error, neptune::QuantumError(8, Options().service_rate, 0.010));
}

TEST(PredictionTest, CsvHasARowForEachRate) {
  const std::string csv = PredictionCsv(*Predict(Options()));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 61);
  EXPECT_EQ(csv.rfind("threads,quantum_error,arrival_rate", 0), 0u);
  const plot::Plot plot = PredictionPlot(*Predict(Options()));
  ASSERT_EQ(plot.series.size(), 2u);
  EXPECT_EQ(plot.series[0].name, "8 threads");
  EXPECT_NE(PredictionTable(*Predict(Options())).find("23 threads; the quantum"),
            std::string::npos);
}

TEST(PredictionTest, RefusesWhatCannotBePredicted) {
  const auto refused = [](auto change) {
    PredictionOptions options = Options();
    change(options);
    return Predict(options).status().code() == neptune::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](PredictionOptions& o) { o.thread_counts.clear(); }));
  EXPECT_TRUE(refused([](PredictionOptions& o) { o.thread_counts = {0}; }));
  EXPECT_TRUE(refused([](PredictionOptions& o) { o.rate_max = 0; }));
  EXPECT_TRUE(refused([](PredictionOptions& o) { o.rate_count = 0; }));
  EXPECT_TRUE(refused([](PredictionOptions& o) { o.queue_length_max = -1; }));
  EXPECT_TRUE(refused([](PredictionOptions& o) { o.quantum_s = -1; }));
}

}  // namespace
}  // namespace search::tools
