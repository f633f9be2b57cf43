// Conformance suite for the files of logs, instantiated for each implementation.
//
//   INSTANTIATE_TEST_SUITE_P(Posix, LogFilesConformanceTest, testing::Values(MakeMyHarness));
//
// Threads: the test's thread.

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "neptune/world/log_files.h"

namespace neptune {

// A host with log files whose process can be ended.
class LogFilesHarness {
 public:
  virtual ~LogFilesHarness() = default;

  // Returns a new object after each end.
  virtual LogFiles& files() = 0;
  // The process ends as if killed. Open files remain valid objects but are no longer used.
  virtual void EndProcess() = 0;
};

using LogFilesHarnessFactory = std::function<std::unique_ptr<LogFilesHarness>()>;

class LogFilesConformanceTest : public testing::TestWithParam<LogFilesHarnessFactory> {
 protected:
  LogFilesConformanceTest() : harness_(GetParam()()) {}

  std::unique_ptr<LogFile> Open(const std::string& name = "file");

  const std::unique_ptr<LogFilesHarness> harness_;
};

}  // namespace neptune
