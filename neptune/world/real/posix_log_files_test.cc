#include "neptune/world/real/posix_log_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "neptune/base/strings.h"
#include "neptune/world/log_files_conformance.h"

namespace neptune {
namespace {

namespace fs = std::filesystem;

std::string FreshFolder() {
  static int count = 0;
  const fs::path folder = fs::path(testing::TempDir()) / StrCat("log_files", ++count);
  fs::remove_all(folder);
  return folder;
}

class PosixHarness : public LogFilesHarness {
 public:
  ~PosixHarness() override { fs::remove_all(folder_); }
  LogFiles& files() override { return *files_; }
  void EndProcess() override {
    files_.reset();  // and with it the lock
    files_ = MakePosixLogFiles(folder_);
  }

 private:
  const std::string folder_ = FreshFolder();
  std::unique_ptr<LogFiles> files_ = MakePosixLogFiles(folder_);
};

INSTANTIATE_TEST_SUITE_P(Posix, LogFilesConformanceTest,
                         testing::Values([] { return std::make_unique<PosixHarness>(); }));

TEST(PosixLogFilesTest, SecondOwnerOfTheFolderIsRefusedUntilTheFirstIsGone) {
  const std::string folder = FreshFolder() + "/deep/inside";
  auto first = MakePosixLogFiles(folder);
  auto file = *first->Open("f");
  const auto second = MakePosixLogFiles(folder);
  EXPECT_EQ(second->Open("f").status().code(), StatusCode::kUnavailable);
  first.reset();
  EXPECT_EQ(second->List().status().code(), StatusCode::kUnavailable) << "a file is open";
  file.reset();
  EXPECT_TRUE(second->Open("f").ok());
}

TEST(PosixLogFilesTest, FolderThatCannotBeIsRefusedByName) {
  const std::string folder = FreshFolder();
  std::ofstream(folder) << "a file";
  const Status status = MakePosixLogFiles(folder + "/below")->Open("f").status();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(ToStd(status.message()).find(folder), std::string::npos) << status;
}

}  // namespace
}  // namespace neptune
