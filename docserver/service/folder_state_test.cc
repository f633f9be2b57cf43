#include "docserver/service/folder_state.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "neptune/base/file.h"

namespace search::docserver {
namespace {

class FolderStateTest : public testing::Test {
 protected:
  FolderStateTest() : folder_(testing::TempDir() + "/folder_state") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/inner");
    Write("a");
    Write("b");
  }
  ~FolderStateTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name) const {
    ASSERT_TRUE(neptune::WriteFileAtomically(folder_ + "/" + name, "bytes").ok());
  }
  std::string State() const { return FolderState(folder_); }

  const std::string folder_;
};

TEST_F(FolderStateTest, StaysWhileNothingChanges) {
  EXPECT_EQ(State(), State());
  EXPECT_NE(State(), "");
}

TEST_F(FolderStateTest, ChangesWithAFileThatIsReplacedByOneOfTheSameBytes) {
  const std::string before = State();
  const auto time = std::filesystem::last_write_time(folder_ + "/a");
  Write("c");
  std::filesystem::rename(folder_ + "/c", folder_ + "/a");
  std::filesystem::last_write_time(folder_ + "/a", time);
  EXPECT_NE(State(), before);
}

TEST_F(FolderStateTest, ChangesWithTheTimeTheSizeAndTheNumberOfFiles) {
  const std::string before = State();
  const auto time = std::filesystem::last_write_time(folder_ + "/a");
  std::filesystem::last_write_time(folder_ + "/a", time - std::chrono::hours(1));
  const std::string touched = State();
  EXPECT_NE(touched, before);
  std::filesystem::resize_file(folder_ + "/a", 1);
  const std::string cut = State();
  EXPECT_NE(cut, touched);
  std::filesystem::remove(folder_ + "/b");
  EXPECT_NE(State(), cut);
}

TEST_F(FolderStateTest, OfNoFolderIsEmpty) { EXPECT_EQ(FolderState(folder_ + "/none"), ""); }

}  // namespace
}  // namespace search::docserver
