// Pages and JSON Lines continue where a run was killed.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "neptune/base/strings.h"
#include "tools/corpus/converter.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using neptune::StatusOr;
using neptune::StrCat;

constexpr int kPages = 200;

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class ConverterResumeTest : public testing::Test {
 protected:
  using Convert = std::function<StatusOr<ConvertCounts>(const ConvertOptions&, const PartedFile&)>;

  void SetUp() override {
    folder_ = StrCat(testing::TempDir(), "/converter_resume_", getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_ + "/pages");
    std::string lines;
    for (int i = 0; i < kPages; ++i) {
      const std::string text = StrCat("the page of number ", i % 7 == 0 ? 0 : i, " has words");
      Write(StrCat("pages/", 1000 + i, ".html"),
            StrCat("<title>Page</title><p>", text, "<p><a href=\"", 1000 + i / 2, ".html\">x</a>"));
      // Blank and bad lines are among them.
      neptune::StrAppend(&lines, i % 5 == 0 ? "\n" : "",
                         i % 11 == 3 ? std::string("{\"id\": ]\n")
                                     : StrCat("{\"id\": ", i, ", \"text\": \"", text, "\"}\n"));
    }
    Write("a.jsonl", lines);
    Write("b.jsonl", "{\"id\": 9999, \"text\": \"one more line of words behind the others\"}\n");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(StrCat(folder_, "/", name), std::ios::binary) << bytes;
  }
  StatusOr<ConvertCounts> Pages(const ConvertOptions& options, const PartedFile& file) const {
    PageTree tree;
    tree.folder = folder_ + "/pages";
    tree.path_prefix = "/pages";
    tree.url_prefix = "doc:pages/";
    return ConvertTreesInParts({tree}, {}, options, file);
  }
  StatusOr<ConvertCounts> Lines(const ConvertOptions& options, const PartedFile& file) const {
    return ConvertJsonLinesInParts({folder_ + "/a.jsonl", folder_ + "/b.jsonl"}, {}, options, file);
  }
  PartedFile File(const std::string& name) const { return {StrCat(folder_, "/", name), 30}; }

  // In a child process that is killed when the clock was asked `ask_count` times. True: it was.
  static bool RunAndKill(const Convert& convert, const PartedFile& file, int ask_count) {
    const pid_t child = fork();
    if (child == 0) {
      std::atomic<int> left = ask_count;
      ConvertOptions options;
      options.progress_out = fopen("/dev/null", "w");
      options.clock = [&left]() -> int64_t {
        if (left-- == 0) kill(getpid(), SIGKILL);
        return 0;
      };
      _exit(convert(options, file).ok() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
  }

  ConvertOptions Quiet() const {
    ConvertOptions options;
    options.clock = [] { return int64_t{0}; };
    return options;
  }

  // However often it is killed the file is the same.
  void KillAndCompare(const Convert& convert, const std::string& name) {
    const auto counts = convert(Quiet(), File("whole" + name));
    ASSERT_TRUE(counts.ok()) << counts.status();
    EXPECT_GT(counts->duplicates, 0u);
    const std::string expected = ReadBytes(folder_ + "/whole" + name);
    ASSERT_FALSE(expected.empty());
    for (const int ask_count : {60, 130, 170}) {
      const PartedFile file = File(StrCat("killed", ask_count, name));
      int kill_count = 0;
      for (; RunAndKill(convert, file, ask_count + kill_count * 47); ++kill_count) {
        ASSERT_FALSE(fs::exists(file.out)) << "half a file under its name";
      }
      EXPECT_GT(kill_count, 0) << ask_count;
      EXPECT_EQ(ReadBytes(file.out), expected) << ask_count;
      EXPECT_FALSE(fs::exists(file.out + ".parts"));
    }
  }

  std::string folder_;
};

TEST_F(ConverterResumeTest, PagesGoOnWhereTheyWereKilled) {
  KillAndCompare([this](const auto&... asked) { return Pages(asked...); }, ".jsonl.zst");
}

TEST_F(ConverterResumeTest, JsonLinesGoOnWhereTheyWereKilled) {
  KillAndCompare([this](const auto&... asked) { return Lines(asked...); }, ".jsonl");
}

TEST_F(ConverterResumeTest, WhatIsDoneIsNotReadAgain) {
  const auto pages = [this](const auto&... asked) { return Pages(asked...); };
  const PartedFile file = File("out.jsonl");
  ASSERT_TRUE(RunAndKill(pages, file, 170));
  ASSERT_TRUE(fs::exists(file.out + ".parts/0.state"));
  ConvertOptions options = Quiet();
  std::string said;
  options.report = [&](const std::string& message) { said += message; };
  const auto counts = Pages(options, file);
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(counts->pages, static_cast<uint64_t>(kPages));
  EXPECT_NE(said.find("continuing after "), std::string::npos) << said;
}

TEST_F(ConverterResumeTest, AChangedInputBeginsAnew) {
  const auto pages = [this](const auto&... asked) { return Pages(asked...); };
  const PartedFile file = File("out.jsonl");
  ASSERT_TRUE(RunAndKill(pages, file, 170));
  Write("pages/1000.html", "<title>Page</title><p>quite another text stands here now");
  ASSERT_TRUE(Pages(Quiet(), file).ok());
  EXPECT_NE(ReadBytes(file.out).find("quite another text"), std::string::npos);
}

TEST_F(ConverterResumeTest, NothingWorthWritingIsAnError) {
  Write("a.jsonl", "{\"id\": 1, \"text\": \"short\"}\n");
  Write("b.jsonl", "");
  const PartedFile file = File("out.jsonl");
  EXPECT_EQ(Lines(Quiet(), file).status().code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_FALSE(fs::exists(file.out));
}

}  // namespace
}  // namespace search::tools
