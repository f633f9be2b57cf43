#include "index/core/segment/section_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace search::index {
namespace {

constexpr FileKind kKind = {.magic = 0x12345678, .version = 3};

// Reads until the end or an error; adds up the sizes.
neptune::Status ReadAll(const PartCheck& check, size_t part_size, size_t* size) {
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const size_t read, check(part_size));
    if (read == 0) return neptune::OkStatus();
    EXPECT_LE(read, part_size);
    *size += read;
  }
}

class SectionCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = testing::TempDir() + "/section_check_test";
    auto writer = SectionFileWriter::Create(path, kKind);
    ASSERT_TRUE(writer.ok()) << writer.status();
    (*writer)->BeginSection(7);
    (*writer)->Append(std::string(1000, 'a'));
    (*writer)->BeginSection(8);  // empty
    (*writer)->BeginSection(9);
    (*writer)->Append(std::string(77, 'b'));
    ASSERT_TRUE((*writer)->Finish().ok());
    std::ifstream in(path, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    words_.resize(whole.size() / 8 + 1);
    std::memcpy(words_.data(), whole.data(), whole.size());
    auto file = SectionFile::FromBytes({bytes(), whole.size()}, "bytes", kKind, {});
    ASSERT_TRUE(file.ok()) << file.status();
    file_ = *std::move(file);
    std::filesystem::remove(path);
  }
  char* bytes() { return reinterpret_cast<char*>(words_.data()); }

  std::vector<uint64_t> words_;
  std::unique_ptr<SectionFile> file_;
};

TEST_F(SectionCheckTest, SoundFilesAreReadOnceToTheirEndInPartsOfAnySize) {
  for (const size_t part_size : {1u, 13u, 1000u, 1u << 20}) {
    size_t size = 0;
    const PartCheck check = CheckOf({file_.get(), nullptr, file_.get()});
    EXPECT_TRUE(ReadAll(check, part_size, &size).ok());
    EXPECT_EQ(size, 2 * 1077u) << part_size;
    EXPECT_EQ(*check(part_size), 0u);
  }
}

TEST_F(SectionCheckTest, EveryByteThatChangedIsFoundAndNotedWithTheFile) {
  const auto first = static_cast<size_t>(file_->Section(7)->data() - bytes());
  const auto last = static_cast<size_t>(file_->Section(9)->data() - bytes());
  for (const size_t place : {first, first + 999, last, last + 76}) {
    SetUp();
    bytes()[place] = static_cast<char>(bytes()[place] ^ 1);
    EXPECT_TRUE(file_->CheckSound().ok());
    size_t size = 0;
    const PartCheck check = CheckOf({file_.get()});
    EXPECT_EQ(ReadAll(check, 64, &size).code(), neptune::StatusCode::kDataLoss) << place;
    EXPECT_EQ(file_->CheckSound().code(), neptune::StatusCode::kDataLoss);
  }
}

TEST_F(SectionCheckTest, NoFilesAreReadAtOnce) { EXPECT_EQ(*CheckOf({})(100), 0u); }

}  // namespace
}  // namespace search::index
