#include "tools/lab/registry.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "tools/lab/engine/runner.h"
#include "tools/lab/recorded_runs.h"

namespace search::lab {
namespace {

TEST(RegistryTest, ExperimentsAreComplete) {
  std::set<std::string> names;
  for (const Experiment& experiment : AllExperiments()) {
    EXPECT_TRUE(names.insert(experiment.name).second) << experiment.name;
    EXPECT_FALSE(experiment.title.empty()) << experiment.name;
    EXPECT_FALSE(experiment.source.empty()) << experiment.name;
    EXPECT_FALSE(experiment.setup.empty()) << experiment.name;
    EXPECT_FALSE(experiment.worlds.empty()) << experiment.name;
    ASSERT_TRUE(experiment.points && experiment.run && experiment.judge) << experiment.name;
    for (const Length length : {Length::kSmoke, Length::kQuick, Length::kFull}) {
      EXPECT_FALSE(experiment.points(length).empty()) << experiment.name;
    }
  }
}

TEST(RegistryTest, EverySimulatedExperimentHasRecordedFigures) {
  const std::string folder = "tools/lab/recorded";
  std::set<std::string> expected;
  for (const Experiment& experiment : AllExperiments()) {
    if (RecordedForm(experiment)) expected.insert(RecordedPath(folder, experiment.name));
  }
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    found.insert(entry.path().string());
  }
  EXPECT_EQ(found, expected) << "bazel run //tools:lab -- record NAME";
}

}  // namespace
}  // namespace search::lab
