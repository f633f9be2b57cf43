#include "index/core/segment/live_documents.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "index/core/segment/format.h"

namespace search::index {
namespace {

using neptune::StatusCode;

constexpr uint64_t kFingerprint = 77;

std::string Path() { return testing::TempDir() + "/live_documents_test"; }

TEST(LiveDocumentsTest, AllDocumentsAreLiveAtFirst) {
  for (const uint32_t count : {0U, 1U, 63U, 64U, 511U, 512U, 513U, 1000U}) {
    const LiveDocuments live(count);
    EXPECT_EQ(live.live_count(), count);
    EXPECT_EQ(live.words().size() % LiveDocuments::kStride, 0U);
    ASSERT_GT(live.words().size() * 64, count);
    for (uint32_t i = 0; i < live.words().size() * 64; ++i) EXPECT_EQ(live.IsLive(i), i < count);
  }
}

TEST(LiveDocumentsTest, DeletingIsCountedOnce) {
  LiveDocuments live(100);
  EXPECT_TRUE(live.Delete(64));
  EXPECT_FALSE(live.Delete(64));
  EXPECT_FALSE(live.IsLive(64));
  EXPECT_TRUE(live.IsLive(63) && live.IsLive(65));
  EXPECT_EQ(live.live_count(), 99U);
}

TEST(LiveDocumentsTest, FileGivesBackTheBitmap) {
  std::mt19937_64 rng(5);
  for (const uint32_t count : {0U, 1U, 64U, 3000U}) {
    LiveDocuments live(count);
    for (uint32_t i = 0; i < count / 2; ++i) live.Delete(static_cast<uint32_t>(rng() % count));
    ASSERT_TRUE(live.Write(Path(), kFingerprint).ok());
    const auto read = LiveDocuments::Read(Path(), kFingerprint, count);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, live);
  }
}

TEST(LiveDocumentsTest, AnotherSegmentsFileIsRefused) {
  ASSERT_TRUE(LiveDocuments(10).Write(Path(), kFingerprint).ok());
  EXPECT_EQ(LiveDocuments::Read(Path(), kFingerprint + 1, 10).status().code(),
            StatusCode::kDataLoss);
  EXPECT_EQ(LiveDocuments::Read(Path(), kFingerprint, 11).status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(LiveDocuments::Read(Path() + ".absent", kFingerprint, 10).status().code(),
            StatusCode::kNotFound);
}

TEST(LiveDocumentsTest, EveryFlippedOrMissingByteIsFound) {
  LiveDocuments live(300);
  live.Delete(7);
  ASSERT_TRUE(live.Write(Path(), kFingerprint).ok());
  std::ifstream in(Path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto read = [](const std::string& changed) -> neptune::StatusOr<LiveDocuments> {
    NEPTUNE_ASSIGN_OR_RETURN(const auto file,
                             SectionFile::FromBytes(changed, "bytes", kLiveDocumentsKind, {}));
    return LiveDocuments::FromFile(*file, kFingerprint, 300);
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    const auto got = read(changed);
    EXPECT_TRUE(!got.ok() || *got == live)
        << "byte " << i;  // padding between sections has no meaning
    EXPECT_FALSE(read(bytes.substr(0, i)).ok()) << i << " bytes";
  }
}

}  // namespace
}  // namespace search::index
