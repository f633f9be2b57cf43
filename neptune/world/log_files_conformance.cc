#include "neptune/world/log_files_conformance.h"

#include "neptune/world/random_source.h"
#include "neptune/world/storage.h"

namespace neptune {

std::unique_ptr<LogFile> LogFilesConformanceTest::Open(const std::string& name) {
  auto file = harness_->files().Open(name);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : nullptr;
}

TEST_P(LogFilesConformanceTest, NewFileIsEmpty) {
  const auto file = Open();
  EXPECT_EQ(file->Size().value(), 0u);
  EXPECT_EQ(file->ReadAt(0, 10).value(), "");
  EXPECT_TRUE(file->Sync().ok());
}

TEST_P(LogFilesConformanceTest, WritesReplaceAndAppend) {
  const auto file = Open();
  ASSERT_TRUE(file->WriteAt(0, "hello").ok());
  ASSERT_TRUE(file->WriteAt(5, " world").ok());
  ASSERT_TRUE(file->WriteAt(1, "a").ok());
  ASSERT_TRUE(file->WriteAt(10, "ds").ok());
  EXPECT_EQ(file->Size().value(), 12u);
  EXPECT_EQ(file->ReadAt(0, 100).value(), "hallo worlds");
  EXPECT_EQ(file->ReadAt(6, 3).value(), "wor");
  EXPECT_EQ(file->ReadAt(12, 3).value(), "");
  EXPECT_EQ(file->ReadAt(100, 3).value(), "");
}

TEST_P(LogFilesConformanceTest, WriteBeyondTheEndIsRefused) {
  const auto file = Open();
  EXPECT_EQ(file->WriteAt(1, "x").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(file->Truncate(1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(file->Size().value(), 0u);
}

TEST_P(LogFilesConformanceTest, CutFileGrowsAgainFromItsEnd) {
  const auto file = Open();
  ASSERT_TRUE(file->WriteAt(0, "0123456789").ok());
  ASSERT_TRUE(file->Truncate(4).ok());
  EXPECT_EQ(file->ReadAt(0, 100).value(), "0123");
  ASSERT_TRUE(file->WriteAt(4, "x").ok());
  EXPECT_EQ(file->ReadAt(0, 100).value(), "0123x");
}

TEST_P(LogFilesConformanceTest, FilesOutliveTheProcess) {
  {
    const auto file = Open("one");
    ASSERT_TRUE(file->WriteAt(0, "kept").ok());
    ASSERT_TRUE(Open("two")->Sync().ok());
  }
  harness_->EndProcess();
  EXPECT_EQ(harness_->files().List().value(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(Open("one")->ReadAt(0, 100).value(), "kept");
}

TEST_P(LogFilesConformanceTest, RemovedFileCanStillBeReadWhereItIsOpen) {
  const auto file = Open("gone");
  ASSERT_TRUE(file->WriteAt(0, "bytes").ok());
  EXPECT_TRUE(harness_->files().Remove("gone").ok());
  EXPECT_TRUE(harness_->files().Remove("gone").ok()) << "it is gone already";
  EXPECT_TRUE(harness_->files().List()->empty());
  EXPECT_EQ(file->ReadAt(0, 100).value(), "bytes");
  EXPECT_EQ(Open("gone")->Size().value(), 0u) << "a new one of that name";
}

TEST_P(LogFilesConformanceTest, BadNamesAreRefused) {
  for (const char* name : {"", ".", "..", "a/b", "UPPER"}) {
    EXPECT_EQ(harness_->files().Open(name).status().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(harness_->files().Remove(name).code(), StatusCode::kInvalidArgument) << name;
  }
}

TEST_P(LogFilesConformanceTest, RandomChangesMatchAString) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RandomSource random(seed);
    const auto file = Open(StrCat("file", seed));
    std::string model;
    for (int step = 0; step < 100; ++step) {
      if (random.Below(10) == 0) {
        model.resize(random.Below(model.size() + 1));
        ASSERT_TRUE(file->Truncate(model.size()).ok());
      } else {
        const size_t offset = random.Below(model.size() + 1);
        const std::string bytes(random.Below(300), static_cast<char>('a' + random.Below(26)));
        model.resize(std::max(model.size(), offset + bytes.size()));
        model.replace(offset, bytes.size(), bytes);
        ASSERT_TRUE(file->WriteAt(offset, bytes).ok());
      }
      const size_t from = random.Below(model.size() + 1);
      ASSERT_EQ(file->ReadAt(from, 200).value(), model.substr(from, 200));
    }
    ASSERT_EQ(file->Size().value(), model.size());
    ASSERT_EQ(file->ReadAt(0, model.size()).value(), model);
  }
}

}  // namespace neptune
