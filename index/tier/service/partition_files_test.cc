#include "index/tier/service/partition_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "index/core/testing/collection.h"
#include "neptune/base/file.h"

namespace search::index {
namespace {

using neptune::StatusCode;

class PartitionFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(neptune::WriteFileAtomically(Path("b"), "0123456789").ok());
    ASSERT_TRUE(neptune::WriteFileAtomically(Path("a"), "").ok());
    std::filesystem::create_directories(Path("folder"));
    std::filesystem::create_symlink(Path("b"), Path("link"));
    ASSERT_TRUE(neptune::WriteFileAtomically(folder_.path() + "/secret", "s").ok());
  }
  std::string Directory() const { return folder_.path() + "/0"; }
  std::string Path(const std::string& name) const {
    std::filesystem::create_directories(Directory());
    return Directory() + "/" + name;
  }
  neptune::StatusOr<FilesAnswer> Read(const std::string& name, uint64_t offset, uint32_t size_max) {
    FilesQuery query;
    query.set_name(name);
    query.set_offset(offset);
    query.set_size_max(size_max);
    return ReadPartitionFiles(Directory(), query);
  }

  const TemporaryFolder folder_;
};

TEST_F(PartitionFilesTest, ListsRegularFilesOnly) {
  const auto answer = Read("", 0, 0);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->files_size(), 2);
  EXPECT_EQ(answer->files(0).name(), "a");
  EXPECT_EQ(answer->files(1).name(), "b");
  EXPECT_EQ(answer->files(1).size(), 10u);
}

TEST_F(PartitionFilesTest, ReadsAPart) {
  EXPECT_EQ(Read("b", 0, 4)->bytes(), "0123");
  EXPECT_EQ(Read("b", 8, 4)->bytes(), "89");
  EXPECT_EQ(Read("b", 10, 4)->bytes(), "");
  EXPECT_EQ(Read("b", UINT64_MAX, 4)->bytes(), "");
  EXPECT_EQ(Read("b", 0, UINT32_MAX)->bytes(), "0123456789");
}

TEST_F(PartitionFilesTest, ReadsNothingOutsideOfTheFolder) {
  for (const std::string name : {"../secret", "..", ".", "/etc/passwd", "folder/../b"}) {
    EXPECT_EQ(Read(name, 0, 10).status().code(), StatusCode::kInvalidArgument) << name;
  }
  EXPECT_FALSE(Read("link", 0, 10).ok());
  EXPECT_FALSE(Read("folder", 0, 10).ok());
  EXPECT_EQ(Read("none", 0, 10).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Read(std::string("b\0", 2), 0, 10).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace search::index
