// Valid and invalid environment variables.

#include "neptune/interpose/preload/options.h"

#include <gtest/gtest.h>

#include <map>

namespace neptune::interpose {
namespace {

StatusOr<PreloadOptions> Read(std::map<std::string, std::string> variables) {
  return ReadPreloadOptions(
      [&variables](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      /*processor_count=*/3);
}

TEST(PreloadOptionsTest, TakesTheFileAndAsManyKernelThreadsAsProcessors) {
  const auto options = Read({{"NEPTUNE_CAPSULES", "a.conf"}});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->capsule_file, "a.conf");
  EXPECT_EQ(options->kernel_thread_count, 3);
}

TEST(PreloadOptionsTest, TakesTheNumberOfKernelThreads) {
  const auto options = Read({{"NEPTUNE_CAPSULES", "a"}, {"NEPTUNE_KERNEL_THREADS", "17"}});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->kernel_thread_count, 17);
}

TEST(PreloadOptionsTest, TakesTheStatusFile) {
  const auto options = Read({{"NEPTUNE_CAPSULES", "a"}, {"NEPTUNE_CAPSULE_STATUS", "status"}});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->status_file, "status");
}

TEST(PreloadOptionsTest, RefusesToIsolateNothing) {
  EXPECT_FALSE(Read({}).ok());
  EXPECT_FALSE(Read({{"NEPTUNE_CAPSULES", ""}}).ok());
}

TEST(PreloadOptionsTest, RefusesImpossibleNumbersByName) {
  for (const char* const text : {"", "0", "-1", "257", "2x", "99999999999"}) {
    const auto options = Read({{"NEPTUNE_CAPSULES", "a"}, {"NEPTUNE_KERNEL_THREADS", text}});
    ASSERT_FALSE(options.ok()) << text;
    EXPECT_NE(options.status().message().find("NEPTUNE_KERNEL_THREADS"), std::string::npos);
  }
}

}  // namespace
}  // namespace neptune::interpose
