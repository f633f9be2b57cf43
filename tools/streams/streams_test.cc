#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/digest.h"
#include "tools/streams/file_sink.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;

std::string Folder() {
  const fs::path folder =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder.string();
}

std::string Bytes(size_t size) {
  std::string bytes;
  uint64_t state = 7;
  while (bytes.size() < size) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    bytes += "word" + std::to_string(state >> 40) + (state % 11 == 0 ? "\n" : " ");
  }
  return bytes;
}

TEST(StreamsTest, EveryPackingGivesTheSameBytesBack) {
  const std::string folder = Folder();
  const std::string bytes = Bytes(1 << 20);
  for (const char* name : {"a.txt", "a.gz", "a.zst"}) {
    const std::string path = folder + "/" + name;
    auto sink = CreateFileSink(path, PackingOfName(path));
    ASSERT_TRUE(sink.ok()) << sink.status();
    for (size_t at = 0; at < bytes.size(); at += 70000) {
      ASSERT_TRUE((*sink)->Write(std::string_view(bytes).substr(at, 70000)).ok());
    }
    EXPECT_FALSE(fs::exists(path)) << "named before it was whole";
    ASSERT_TRUE((*sink)->Commit().ok());
    auto read = ReadWholeFile(path, 2 << 20);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, bytes) << name;
  }
}

TEST(StreamsTest, UncommittedFileLeavesNothing) {
  const std::string folder = Folder();
  {
    auto sink = CreateFileSink(folder + "/x", Packing::kNone);
    ASSERT_TRUE(sink.ok());
    ASSERT_TRUE((*sink)->Write("half").ok());
  }
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(StreamsTest, CutPackedFileIsDataLoss) {
  const std::string folder = Folder();
  for (const char* name : {"a.gz", "a.zst"}) {
    const std::string path = folder + "/" + name;
    auto sink = CreateFileSink(path, PackingOfName(path));
    ASSERT_TRUE((*sink)->Write(Bytes(200000)).ok());
    ASSERT_TRUE((*sink)->Commit().ok());
    fs::resize_file(path, fs::file_size(path) / 2);
    const auto read = ReadWholeFile(path, 1 << 20);
    EXPECT_EQ(read.status().code(), neptune::StatusCode::kDataLoss) << read.status();
    EXPECT_NE(std::string(read.status().message()).find(name), std::string::npos);
  }
}

TEST(StreamsTest, ExpansionIsBounded) {
  const std::string path = Folder() + "/zeros.zst";
  auto sink = CreateFileSink(path, Packing::kZstd);
  ASSERT_TRUE((*sink)->Write(std::string(8 << 20, '\0')).ok());
  ASSERT_TRUE((*sink)->Commit().ok());
  EXPECT_EQ(ReadWholeFile(path, 1 << 20).status().code(), neptune::StatusCode::kResourceExhausted);
}

TEST(StreamsTest, MissingFileIsNotFound) {
  EXPECT_EQ(OpenByteSource(Folder() + "/none").status().code(), neptune::StatusCode::kNotFound);
}

std::vector<LineReader::Line> Lines(const std::string& content, size_t line_size_max,
                                    std::vector<std::string>* texts) {
  const std::string path = Folder() + "/lines";
  EXPECT_TRUE(WriteWholeFile(path, content).ok());
  auto source = OpenByteSource(path);
  LineReader reader(source->get(), line_size_max);
  std::vector<LineReader::Line> lines;
  LineReader::Line line;
  while (*reader.Next(&line)) {
    lines.push_back(line);
    texts->emplace_back(line.text);
  }
  return lines;
}

TEST(LineReaderTest, CutsAtLineBreaksAndKeepsAnUnendedLastLine) {
  std::vector<std::string> texts;
  Lines("one\r\n\nthree", 100, &texts);
  EXPECT_EQ(texts, (std::vector<std::string>{"one", "", "three"}));
}

TEST(LineReaderTest, LongLineIsReportedAndPassedOver) {
  std::vector<std::string> texts;
  const auto lines = Lines("a\n" + std::string(3 << 20, 'x') + "\nb\n", 1000, &texts);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[1].too_long);
  EXPECT_EQ(lines[1].number, 2u);
  EXPECT_EQ(texts[2], "b");
}

TEST(LineReaderTest, LinesLongerThanABlockComeWhole) {
  std::vector<std::string> texts;
  const std::string text(700000, 'y');
  Lines(text + "\nend\n", 1 << 20, &texts);
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0], text);
}

TEST(DigestTest, KnownValues) {
  const std::string path = Folder() + "/abc";
  ASSERT_TRUE(WriteWholeFile(path, "abc").ok());
  EXPECT_EQ(*Sha256OfFile(path),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(DigestFile(path)->size, 3u);
  EXPECT_EQ(DigestFile(path)->xxh3, "78af5f94892f3950");
}

}  // namespace
}  // namespace search::tools
