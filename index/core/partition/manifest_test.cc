#include "index/core/partition/manifest.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace search::index {
namespace {

Manifest Sample() {
  return {.epoch = 9, .next_number = 8, .terms_version = 2, .segments = {{7, 70, 1}, {3, 30, 0}}};
}

std::string Path() { return testing::TempDir() + "/manifest"; }

TEST(ManifestTest, ComesBackAsWritten) {
  for (const Manifest& manifest : {Sample(), Manifest()}) {
    ASSERT_TRUE(WriteManifest(manifest, testing::TempDir()).ok());
    const auto read = ReadManifest(Path());
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, manifest);
  }
}

TEST(ManifestTest, ImpossibleNumbersAreDamage) {
  Manifest future = Sample();
  future.next_number = 7;
  Manifest twice = Sample();
  twice.segments[1].number = 7;
  for (const Manifest& manifest : {future, twice}) {
    ASSERT_TRUE(WriteManifest(manifest, testing::TempDir()).ok());
    EXPECT_EQ(ReadManifest(Path()).status().code(), neptune::StatusCode::kDataLoss);
  }
}

TEST(ManifestTest, TooManySegmentsAreRefused) {
  Manifest manifest;
  manifest.segments.resize(kManifestSegmentsMax + 1);
  EXPECT_EQ(WriteManifest(manifest, testing::TempDir()).code(),
            neptune::StatusCode::kResourceExhausted);
}

TEST(ManifestTest, EveryFlippedOrMissingByteIsFound) {
  ASSERT_TRUE(WriteManifest(Sample(), testing::TempDir()).ok());
  std::ifstream in(Path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto read = [](const std::string& changed) -> neptune::StatusOr<Manifest> {
    NEPTUNE_ASSIGN_OR_RETURN(const auto file,
                             SectionFile::FromBytes(changed, "bytes", kManifestKind, {}));
    return ManifestFromFile(*file);
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    const auto got = read(changed);
    EXPECT_TRUE(!got.ok() || *got == Sample()) << i;  // padding between sections has no meaning
    EXPECT_FALSE(read(bytes.substr(0, i)).ok()) << i;
  }
}

}  // namespace
}  // namespace search::index
