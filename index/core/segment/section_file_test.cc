#include "index/core/segment/section_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace search::index {
namespace {

constexpr FileKind kKind = {.magic = 0x12345678, .version = 3};

class SectionFileTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/section_file_test";
    auto writer = SectionFileWriter::Create(path_, kKind);
    ASSERT_TRUE(writer.ok()) << writer.status();
    (*writer)->BeginSection(7);
    (*writer)->Append("hello ");
    (*writer)->Append("world");
    (*writer)->BeginSection(9);
    const std::vector<uint64_t> numbers = {1, 2, 3};
    (*writer)->AppendArray(std::span<const uint64_t>(numbers));
    (*writer)->BeginSection(11);
    const auto size = (*writer)->Finish();
    ASSERT_TRUE(size.ok()) << size.status();
    bytes_ = Read();
    EXPECT_EQ(*size, bytes_.size());
  }

  std::string Read() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static neptune::Status OpenBytes(const std::string& bytes) {
    return SectionFile::FromBytes(bytes, "bytes", kKind, {}).status();
  }

  std::string path_;
  std::string bytes_;
};

TEST_F(SectionFileTest, SectionsComeBack) {
  const auto file = SectionFile::Open(path_, kKind, {});
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*(*file)->Section(7), "hello world");
  const auto numbers = (*file)->Array<uint64_t>(9);
  ASSERT_TRUE(numbers.ok());
  EXPECT_EQ(std::vector<uint64_t>(numbers->begin(), numbers->end()),
            (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(*(*file)->Section(11), "");
}

TEST_F(SectionFileTest, MissingSectionAndOddArrayAreDataLoss) {
  const auto file = SectionFile::Open(path_, kKind, {});
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->Section(8).status().code(), neptune::StatusCode::kDataLoss);
  EXPECT_EQ((*file)->Array<uint64_t>(7).status().code(), neptune::StatusCode::kDataLoss);
}

TEST_F(SectionFileTest, AbsentFileIsNotFound) {
  EXPECT_EQ(SectionFile::Open(path_ + ".absent", kKind, {}).status().code(),
            neptune::StatusCode::kNotFound);
}

TEST_F(SectionFileTest, OtherKindOrVersionIsRefused) {
  EXPECT_EQ(SectionFile::Open(path_, {.magic = 1, .version = 3}, {}).status().code(),
            neptune::StatusCode::kDataLoss);
  EXPECT_EQ(SectionFile::Open(path_, {.magic = kKind.magic, .version = 4}, {}).status().code(),
            neptune::StatusCode::kDataLoss);
}

TEST_F(SectionFileTest, EveryTruncationIsDetected) {
  for (size_t size = 0; size < bytes_.size(); ++size) {
    ASSERT_EQ(OpenBytes(bytes_.substr(0, size)).code(), neptune::StatusCode::kDataLoss) << size;
  }
  EXPECT_EQ(OpenBytes(bytes_ + "x").code(), neptune::StatusCode::kDataLoss);
}

TEST_F(SectionFileTest, EmptyOrCutOffFileIsDataLoss) {
  for (const size_t size : {size_t{0}, bytes_.size() / 2}) {
    std::filesystem::resize_file(path_, size);
    EXPECT_EQ(SectionFile::Open(path_, kKind, {}).status().code(), neptune::StatusCode::kDataLoss);
  }
}

TEST_F(SectionFileTest, EveryFlippedBitIsDetectedOrInPadding) {
  size_t undetected = 0;
  for (size_t bit = 0; bit < bytes_.size() * 8; ++bit) {
    std::string flipped = bytes_;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const bool padding = bytes_[bit / 8] == 0;
    if (!OpenBytes(flipped).ok()) continue;
    ++undetected;
    ASSERT_TRUE(padding) << "bit " << bit;
  }
  EXPECT_LT(undetected, bytes_.size() * 8);
}

TEST_F(SectionFileTest, UnfinishedFileLeavesTheOldOneAndNoOther) {
  auto writer = SectionFileWriter::Create(path_, kKind);
  ASSERT_TRUE(writer.ok());
  (*writer)->BeginSection(1);
  writer->reset();
  EXPECT_EQ(Read(), bytes_);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
}

}  // namespace
}  // namespace search::index
