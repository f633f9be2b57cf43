#include "tools/lab/registry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

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

}  // namespace
}  // namespace search::lab
