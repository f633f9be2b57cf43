#include "tools/cluster/admin_token.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "neptune/base/secret_file.h"

namespace search::tools {
namespace {

class AdminTokenTest : public testing::Test {
 protected:
  AdminTokenTest() : folder_(testing::TempDir() + "/admin_token") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/clusters");
    spec_.set_admin_token_file("../state/token");
  }

  std::string spec_path() const { return folder_ + "/clusters/some.textproto"; }
  std::string token_path() const { return folder_ + "/state/token"; }

  const std::string folder_;
  neptune::ClusterSpec spec_;
};

TEST_F(AdminTokenTest, IsMadeForItsOwnerOnly) {
  ASSERT_TRUE(MakeAdminToken(spec_, spec_path()).ok());
  struct stat status {};
  ASSERT_EQ(stat(token_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(neptune::LoadSecret(token_path())->size(), 64u);
}

TEST_F(AdminTokenTest, StaysAsItIsOnceItIsThere) {
  ASSERT_TRUE(MakeAdminToken(spec_, spec_path()).ok());
  const std::string first = *neptune::LoadSecret(token_path());
  ASSERT_TRUE(MakeAdminToken(spec_, spec_path()).ok());
  EXPECT_EQ(*neptune::LoadSecret(token_path()), first);
}

TEST_F(AdminTokenTest, EachClusterHasAnother) {
  ASSERT_TRUE(MakeAdminToken(spec_, spec_path()).ok());
  const std::string first = *neptune::LoadSecret(token_path());
  std::filesystem::remove(token_path());
  ASSERT_TRUE(MakeAdminToken(spec_, spec_path()).ok());
  EXPECT_NE(*neptune::LoadSecret(token_path()), first);
}

TEST_F(AdminTokenTest, AFileThatOthersMayReadIsRefused) {
  ASSERT_TRUE(MakeAdminToken(spec_, spec_path()).ok());
  ASSERT_EQ(chmod(token_path().c_str(), 0644), 0);
  EXPECT_EQ(MakeAdminToken(spec_, spec_path()).code(), neptune::StatusCode::kFailedPrecondition);
}

TEST_F(AdminTokenTest, ASpecWithoutOneIsLeftAlone) {
  spec_.clear_admin_token_file();
  EXPECT_TRUE(MakeAdminToken(spec_, spec_path()).ok());
  EXPECT_FALSE(std::filesystem::exists(token_path()));
}

}  // namespace
}  // namespace search::tools
