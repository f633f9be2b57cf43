// The programs print the same with and without the preload library.

#include <gtest/gtest.h>

#include <sstream>

#include "neptune/interpose/preload/program_run.h"

namespace neptune::interpose {
namespace {

class ConformanceTest : public testing::TestWithParam<std::string> {
 protected:
  static std::vector<std::string> Cases(const std::string& program) {
    const ProgramEnd list = RunProgram({program});
    std::istringstream lines(list.output);
    std::vector<std::string> cases;
    for (std::string line; std::getline(lines, line);) cases.push_back(line);
    return cases;
  }

  static void ExpectSame(const ProgramEnd& with, const ProgramEnd& without) {
    EXPECT_EQ(with.exit_status, without.exit_status);
    EXPECT_EQ(with.signal, without.signal);
    EXPECT_EQ(with.output, without.output);
    EXPECT_EQ(with.errors, without.errors);
  }
};

TEST_P(ConformanceTest, PrintsTheSameWithUserLevelThreads) {
  const std::string program = TreeFile("neptune/interpose/pthread/" + GetParam());
  const std::vector<std::string> cases = Cases(program);
  ASSERT_FALSE(cases.empty());
  for (const std::string& one : cases) {
    const ProgramEnd without = RunProgram({program, one});
    EXPECT_EQ(without.signal, 0) << one;
    EXPECT_NE(without.output, "") << one;
    for (const int kernel_thread_count : {1, 2}) {
      SCOPED_TRACE(testing::Message() << one << ", kernel threads: " << kernel_thread_count);
      ExpectSame(RunProgram({program, one}, PreloadEnvironment("", kernel_thread_count)), without);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, ConformanceTest,
                         testing::Values("conformance_threads", "conformance_waiting",
                                         "conformance_process", "conformance_cpp"));

}  // namespace
}  // namespace neptune::interpose
