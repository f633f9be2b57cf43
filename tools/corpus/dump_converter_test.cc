#include "tools/corpus/dump_converter.h"

#include <bzlib.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "neptune/base/strings.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/file_sink.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using neptune::StrCat;

constexpr int kPages = 500;

std::string Dump(int first, int count) {
  std::string dump = "<mediawiki><siteinfo><base>https://f.example.org/wiki/M</base></siteinfo>";
  for (int i = first; i < first + count; ++i) {
    // Every seventh page is as one long before it.
    const std::string title = i % 7 == 6 ? "Copy" : StrCat("Page ", i);
    const std::string text = i % 7 == 6 ? "the same text as many other pages"
                                        : StrCat("page ", i, " has words, as [[Page ", i / 2, "]]");
    neptune::StrAppend(&dump, "<page><title>", title, "</title><ns>", i % 11 == 5 ? 1 : 0, "</ns>",
                       i % 13 == 1 ? "<redirect title=\"x\"/>" : "", "<revision><text>", text,
                       "</text></revision></page>\n");
  }
  return dump + "</mediawiki>";
}

std::string Bzip2(const std::string& bytes) {
  std::string packed(bytes.size() + 1000, '\0');
  auto size = static_cast<unsigned>(packed.size());
  EXPECT_EQ(BZ2_bzBuffToBuffCompress(packed.data(), &size, const_cast<char*>(bytes.data()),
                                     static_cast<unsigned>(bytes.size()), 1, 0, 0),
            BZ_OK);
  packed.resize(size);
  return packed;
}

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A run that has to die at some point does not report it: it is another process.
class DumpConverterTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = StrCat(testing::TempDir(), "/dump_converter_", getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Write("plain.xml", Dump(0, kPages / 2));
    const std::string rest = Dump(kPages / 2, kPages / 2);
    // Two streams, as packers that work in parallel write them.
    Write("rest.xml.bz2", Bzip2(rest.substr(0, 9000)) + Bzip2(rest.substr(9000)));
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(StrCat(folder_, "/", name), std::ios::binary) << bytes;
  }
  DumpJob Job(const std::string& out) const {
    return {.files = {folder_ + "/plain.xml", folder_ + "/rest.xml.bz2"},
            .format = "wikipedia",
            .dump = {.site = "fruit"},
            .out = StrCat(folder_, "/", out),
            .part_pages = 40};
  }
  // Runs in a child process that is killed when the clock was asked `ask_count` times. True: it
  // was.
  static bool RunAndKill(const DumpJob& job, int ask_count) {
    const pid_t child = fork();
    if (child == 0) {
      int left = ask_count;
      ConvertOptions options;
      options.progress_out = fopen("/dev/null", "w");
      options.clock = [&left]() -> int64_t {
        if (left-- == 0) kill(getpid(), SIGKILL);
        return 0;
      };
      _exit(ConvertDumps(job, options).ok() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
  }

  std::string folder_;
};

TEST_F(DumpConverterTest, WritesArticlesOnceAndCountsTheRest) {
  const auto counts = ConvertDumps(Job("out.jsonl"), {});
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(counts->pages, static_cast<uint64_t>(kPages));
  EXPECT_GT(counts->redirects, 20u);
  EXPECT_GT(counts->others, 20u);
  EXPECT_GT(counts->duplicates, 40u);
  EXPECT_EQ(counts->written + counts->redirects + counts->others + counts->duplicates,
            counts->pages);
  const std::string lines = ReadBytes(folder_ + "/out.jsonl");
  EXPECT_EQ(static_cast<uint64_t>(std::count(lines.begin(), lines.end(), '\n')), counts->written);
  EXPECT_FALSE(fs::exists(folder_ + "/out.jsonl.parts"));
}

TEST_F(DumpConverterTest, HoweverOftenItIsKilledTheFileIsTheSame) {
  for (const char* const suffix : {".jsonl", ".jsonl.gz", ".jsonl.zst"}) {
    const DumpJob whole = Job(StrCat("whole", suffix));
    const auto counts = ConvertDumps(whole, {});
    ASSERT_TRUE(counts.ok()) << counts.status();
    const std::string expected = ReadBytes(whole.out);
    ASSERT_FALSE(expected.empty());
    for (const int ask_count : {5, 45, 90, 177, 333, 480}) {
      const DumpJob job = Job(StrCat("killed", ask_count, suffix));
      int kill_count = 0;
      // Each run of a process dies as late as the one before, or gets to the end.
      while (RunAndKill(job, ask_count + kill_count * 37)) {
        ++kill_count;
        ASSERT_FALSE(fs::exists(job.out)) << "half a file under its name";
      }
      EXPECT_GT(kill_count, 0) << ask_count;
      EXPECT_EQ(ReadBytes(job.out), expected) << suffix << " killed from " << ask_count << " on";
    }
  }
}

TEST_F(DumpConverterTest, ADamagedPartIsMadeAgainAndAnotherJobBeginsAnew) {
  const DumpJob whole = Job("whole.jsonl");
  ASSERT_TRUE(ConvertDumps(whole, {}).ok());
  const std::string expected = ReadBytes(whole.out);
  DumpJob job = Job("out.jsonl");
  ASSERT_TRUE(RunAndKill(job, 400));
  ASSERT_TRUE(fs::exists(job.out + ".parts/3.state"));
  for (const std::string name : {"3", "4.state"}) {
    std::string bytes = ReadBytes(StrCat(job.out, ".parts/", name));
    bytes[bytes.size() / 2] ^= 1;
    std::ofstream(StrCat(job.out, ".parts/", name), std::ios::binary) << bytes;
    ASSERT_TRUE(RunAndKill(job, 400));
  }
  ASSERT_TRUE(ConvertDumps(job, {}).ok());
  EXPECT_EQ(ReadBytes(job.out), expected);

  ASSERT_TRUE(RunAndKill(job, 400));
  job.dump.site = "other";
  ASSERT_TRUE(ConvertDumps(job, {}).ok());
  const std::string lines = ReadBytes(job.out);
  EXPECT_EQ(lines.find("\"fruit\""), std::string::npos);
}

TEST_F(DumpConverterTest, SaysWhichFileIsDamagedAndGoesOnWhenItIsWhole) {
  const DumpJob job = Job("out.jsonl");
  const std::string packed = ReadBytes(job.files[1]);
  Write("rest.xml.bz2", packed.substr(0, packed.size() / 2));
  const auto cut = ConvertDumps(job, {});
  EXPECT_EQ(cut.status().code(), neptune::StatusCode::kDataLoss);
  EXPECT_NE(neptune::ToStd(cut.status().message()).find("rest.xml.bz2"), std::string::npos);
  EXPECT_FALSE(fs::exists(job.out));
  Write("rest.xml.bz2", packed);
  EXPECT_TRUE(ConvertDumps(job, {}).ok());
}

}  // namespace
}  // namespace search::tools
