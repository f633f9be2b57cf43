#include "neptune/membership/announcement_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/membership/announcement.h"

namespace neptune {
namespace {

using Contents = std::vector<std::string>;

class AnnouncementFolderTest : public testing::Test {
 protected:
  AnnouncementFolderTest() {
    parent_ = std::filesystem::path(testing::TempDir()) / StrCat("announcements-", getpid());
    std::filesystem::create_directories(parent_);
    path_ = parent_ / "x.nodes";
  }
  ~AnnouncementFolderTest() override { std::filesystem::remove_all(parent_); }

  void Put(const std::string& name, const std::string& bytes) const {
    ASSERT_TRUE(WriteFileAtomically((path_ / name).string(), bytes).ok());
  }
  // What is news, and how much was refused.
  static std::pair<Contents, size_t> Poll(AnnouncementFolder& folder) {
    const auto news = folder.Poll();
    EXPECT_TRUE(news.ok()) << news.status();
    return {news->contents, news->refused_count};
  }
  static Contents NewsOf(AnnouncementFolder& folder) { return Poll(folder).first; }

  std::filesystem::path parent_;
  std::filesystem::path path_;
};

TEST_F(AnnouncementFolderTest, ReportsEachAnnouncementWrittenAfterTheFirstReadOnce) {
  AnnouncementFolder writer(path_.string());
  ASSERT_TRUE(writer.Write("a", "of old").ok());
  AnnouncementFolder reader(path_.string());
  EXPECT_EQ(NewsOf(reader), Contents());
  ASSERT_TRUE(writer.Write("b", "of b").ok());
  ASSERT_TRUE(writer.Write("a", "of a").ok());
  EXPECT_EQ(NewsOf(reader), (Contents{"of a", "of b"}));
  EXPECT_EQ(NewsOf(reader), Contents());
  ASSERT_TRUE(writer.Write("a", "of a again").ok());
  EXPECT_EQ(NewsOf(reader), Contents{"of a again"});
}

TEST_F(AnnouncementFolderTest, AFolderThatOthersMayChangeIsRefused) {
  const auto refusal = [&] { return AnnouncementFolder(path_.string()).Poll().status().code(); };
  std::filesystem::create_directory(path_);
  EXPECT_EQ(refusal(), StatusCode::kOk);
  ASSERT_EQ(chmod(path_.c_str(), 0777), 0);
  EXPECT_EQ(refusal(), StatusCode::kFailedPrecondition);
  std::filesystem::remove(path_);
  std::filesystem::create_directory(parent_ / "another");
  std::filesystem::create_directory_symlink(parent_ / "another", path_);
  EXPECT_EQ(refusal(), StatusCode::kFailedPrecondition);
}

TEST_F(AnnouncementFolderTest, FileThatComesBackAsItWasIsNoNews) {
  AnnouncementFolder folder(path_.string());
  EXPECT_EQ(NewsOf(folder), Contents());
  ASSERT_TRUE(folder.Write("a", "of a").ok());
  EXPECT_EQ(NewsOf(folder), Contents{"of a"});
  std::filesystem::remove_all(path_);
  EXPECT_EQ(NewsOf(folder), Contents());
  ASSERT_TRUE(folder.Write("a", "of a").ok());
  EXPECT_EQ(NewsOf(folder), Contents());
}

TEST_F(AnnouncementFolderTest, RefusesWhatIsNoPlainFileOfTheSizeOfAnAnnouncement) {
  AnnouncementFolder folder(path_.string());
  EXPECT_EQ(Poll(folder).second, 0u);
  Put("exact.node", std::string(kAnnouncementSizeMax, 'x'));
  Put("large.node", std::string(kAnnouncementSizeMax + 1, 'x'));
  Put("empty.node", "");
  Put("foreign.txt", "not looked at");
  Put("half.new", "not whole yet");
  std::filesystem::create_directory(path_ / "folder.node");
  std::filesystem::create_symlink(path_ / "exact.node", path_ / "link.node");
  ASSERT_EQ(mkfifo((path_ / "pipe.node").c_str(), 0600), 0);
  const auto [contents, refused_count] = Poll(folder);
  EXPECT_EQ(contents, Contents{std::string(kAnnouncementSizeMax, 'x')});
  EXPECT_EQ(refused_count, 5u);  // large, empty, folder, link, pipe
}

TEST_F(AnnouncementFolderTest, MakesTheFolderButNotWhatItIsIn) {
  std::filesystem::remove_all(parent_);
  AnnouncementFolder folder(path_.string());
  EXPECT_EQ(folder.Poll().status().code(), StatusCode::kNotFound);
  EXPECT_EQ(folder.Write("a", "of a").code(), StatusCode::kNotFound);
  std::filesystem::create_directories(parent_);
  EXPECT_TRUE(folder.Write("a", "of a").ok());
  EXPECT_EQ(NewsOf(folder), Contents());
}

TEST_F(AnnouncementFolderTest, WritesOverAPipeOrALinkInItsWay) {
  AnnouncementFolder folder(path_.string());
  EXPECT_EQ(NewsOf(folder), Contents());
  ASSERT_EQ(mkfifo((path_ / "a.node").c_str(), 0600), 0);
  EXPECT_TRUE(folder.Write("a", "of a").ok());
  EXPECT_EQ(NewsOf(folder), Contents{"of a"});
  ASSERT_EQ(mkfifo((path_ / "b.new").c_str(), 0600), 0);
  EXPECT_FALSE(folder.Write("b", "of b").ok());
}

TEST(FolderOfDirectoryTest, IsAnAbsolutePathOfPlainCharacters) {
  EXPECT_EQ(*FolderOfDirectory("file:/srv/a-b_c.d/E9"), "/srv/a-b_c.d/E9");
  for (const char* wrong : {"", "file:", "file:srv", "/srv", "etcd", "file:/a b", "file:/a\nb",
                            "file:/a%b", "FILE:/srv"}) {
    EXPECT_EQ(FolderOfDirectory(wrong).status().code(), StatusCode::kInvalidArgument) << wrong;
  }
}

}  // namespace
}  // namespace neptune
