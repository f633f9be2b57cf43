#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/progress.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;

TEST(ProgressTest, ShowsShareRateAndTimeLeft) {
  const ProgressState state{
      .label = "reading", .unit = "pages", .done = 2000, .total = 4000, .elapsed_s = 2};
  EXPECT_EQ(RenderProgress(state, 10),
            "reading [#####     ] 50 % 2,000/4,000 pages, 1,000/s, 2 s left");
  EXPECT_EQ(RenderProgress(state, 0), "reading 50 % 2,000/4,000 pages, 1,000/s, 2 s left");
}

TEST(ProgressTest, UnknownTotalShowsWhatIsDone) {
  EXPECT_EQ(RenderProgress({.label = "reading", .unit = "lines", .done = 10, .elapsed_s = 100}, 10),
            "reading 10 lines, 0/s, 1 min 40 s");
}

TEST(ProgressTest, NothingDoneDividesByNothing) {
  EXPECT_EQ(RenderProgress({.label = "x", .unit = "y", .total = 5}, 0), "x 0 % 0/5 y, 0/s, 0 s");
}

TEST(ProgressTest, WritesPlainLinesToAFile) {
  const std::string path = testing::TempDir() + "/progress";
  int64_t now = 0;
  {
    std::unique_ptr<FILE, int (*)(FILE*)> out(fopen(path.c_str(), "w"), &fclose);
    Progress progress(
        {.label = "work", .unit = "items", .total = 4, .out = out.get(), .clock = [&now] {
           return now;
         }});
    progress.Add(1);
    now = 20'000'000'000;
    progress.Add(1);
    progress.Add(2);
    progress.Finish();
  }
  std::ifstream in(path);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(text, "work 50 % 2/4 items, 0/s, 20 s left\nwork 100 % 4/4 items, 0/s, 20 s\n");
}

TEST(CallerPathTest, RelativePathsStartAtTheCaller) {
  setenv("BUILD_WORKING_DIRECTORY", "/somewhere/here", 1);
  EXPECT_EQ(CallerPath("a/../b"), "/somewhere/here/b");
  EXPECT_EQ(CallerPath("/c"), "/c");
  EXPECT_EQ(CallerPath("-"), "-");
  EXPECT_EQ(CallerPath(""), "");
}

TEST(CallerPathTest, ProjectFilesAreFoundFromAnywhere) {
  const fs::path root = fs::path(testing::TempDir()) / "root";
  fs::create_directories(root / "data");
  std::ofstream(root / "data" / "x") << "x";
  setenv("BUILD_WORKING_DIRECTORY", "/somewhere/here", 1);
  setenv("BUILD_WORKSPACE_DIRECTORY", root.c_str(), 1);
  EXPECT_EQ(ProjectPath("data/x"), (root / "data/x").string());
  EXPECT_EQ(ProjectPath("data/none"), "/somewhere/here/data/none");
}

}  // namespace
}  // namespace search::tools
