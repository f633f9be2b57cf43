#include "neptune/base/sealed_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace neptune {
namespace {

class SealedDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/sealed_directory_" + std::to_string(getpid());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_ + "/sub");
    Write("a", "first file");
    Write("b c", std::string(3 * kSealTailSize, 'b'));
    Write("empty", "");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(directory_ + "/" + name, std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string Read(const std::string& name) {
    std::ifstream file(directory_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  StatusCode Check() { return CheckSealedDirectory(directory_, "SEAL").status().code(); }

  std::string directory_;
};

TEST_F(SealedDirectoryTest, GivesBackTheDescription) {
  ASSERT_TRUE(SealDirectory(directory_, "SEAL", "version 7").ok());
  const auto description = CheckSealedDirectory(directory_, "SEAL");
  ASSERT_TRUE(description.ok()) << description.status();
  EXPECT_EQ(*description, "version 7");
}

TEST_F(SealedDirectoryTest, CoversTheEndsOfLargeFilesOrAllOfThem) {
  std::string middle(3 * kSealTailSize, 'b');
  middle[kSealTailSize] = 'x';
  for (const SealExtent extent : {SealExtent::kEnds, SealExtent::kWholeFiles}) {
    Write("b c", std::string(3 * kSealTailSize, 'b'));
    ASSERT_TRUE(SealDirectory(directory_, "SEAL", "", extent).ok());
    EXPECT_EQ(Check(), StatusCode::kOk);
    Write("b c", middle);
    EXPECT_EQ(Check(), extent == SealExtent::kEnds ? StatusCode::kOk : StatusCode::kDataLoss);
  }
}

TEST_F(SealedDirectoryTest, CanBeSealedAgain) {
  ASSERT_TRUE(SealDirectory(directory_, "SEAL", "1").ok());
  Write("a", "changed");
  ASSERT_TRUE(SealDirectory(directory_, "SEAL", "2").ok());
  EXPECT_EQ(*CheckSealedDirectory(directory_, "SEAL"), "2");
}

TEST_F(SealedDirectoryTest, DistinguishesAMissingSealFromADamagedOne) {
  EXPECT_EQ(Check(), StatusCode::kNotFound);
  ASSERT_TRUE(SealDirectory(directory_, "SEAL", "").ok());
  const std::string seal = Read("SEAL");
  for (size_t size = 0; size < seal.size(); ++size) {
    Write("SEAL", seal.substr(0, size));
    EXPECT_EQ(Check(), StatusCode::kDataLoss) << "cut to " << size;
  }
  for (size_t bit = 0; bit < 8 * seal.size(); ++bit) {
    std::string damaged = seal;
    damaged[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    Write("SEAL", damaged);
    EXPECT_EQ(Check(), StatusCode::kDataLoss) << "bit " << bit;
  }
}

TEST_F(SealedDirectoryTest, FindsCutExchangedAndLostFiles) {
  ASSERT_TRUE(SealDirectory(directory_, "SEAL", "").ok());
  for (const std::string name : {"a", "b c"}) {
    const std::string bytes = Read(name);
    Write(name, bytes.substr(1));
    EXPECT_EQ(Check(), StatusCode::kDataLoss);
    std::string damaged = bytes;
    damaged.back() ^= 1;
    Write(name, damaged);
    EXPECT_EQ(Check(), StatusCode::kDataLoss);
    std::filesystem::remove(directory_ + "/" + name);
    EXPECT_EQ(Check(), StatusCode::kDataLoss);
    Write(name, bytes);
    EXPECT_EQ(Check(), StatusCode::kOk);
  }
}

TEST_F(SealedDirectoryTest, RefusesADescriptionOfSeveralLines) {
  EXPECT_EQ(SealDirectory(directory_, "SEAL", "a\nb").code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace neptune
