#include "tools/cluster/cluster_secrets.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "neptune/base/secret_file.h"
#include "neptune/security/cluster_key.h"

namespace search::tools {
namespace {

class ClusterSecretsTest : public testing::Test {
 protected:
  ClusterSecretsTest() : folder_(testing::TempDir() + "/admin_token") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/clusters");
    spec_.set_admin_token_file("../state/token");
  }

  std::string spec_path() const { return folder_ + "/clusters/some.textproto"; }
  std::string token_path() const { return folder_ + "/state/token"; }

  const std::string folder_;
  neptune::ClusterSpec spec_;
};

TEST_F(ClusterSecretsTest, IsMadeForItsOwnerOnly) {
  ASSERT_TRUE(MakeClusterSecrets(spec_, spec_path()).ok());
  struct stat status {};
  ASSERT_EQ(stat(token_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(neptune::LoadSecret(token_path())->size(), 64u);
}

TEST_F(ClusterSecretsTest, StaysAsItIsOnceItIsThere) {
  ASSERT_TRUE(MakeClusterSecrets(spec_, spec_path()).ok());
  const std::string first = *neptune::LoadSecret(token_path());
  ASSERT_TRUE(MakeClusterSecrets(spec_, spec_path()).ok());
  EXPECT_EQ(*neptune::LoadSecret(token_path()), first);
}

TEST_F(ClusterSecretsTest, EachClusterHasAnother) {
  ASSERT_TRUE(MakeClusterSecrets(spec_, spec_path()).ok());
  const std::string first = *neptune::LoadSecret(token_path());
  std::filesystem::remove(token_path());
  ASSERT_TRUE(MakeClusterSecrets(spec_, spec_path()).ok());
  EXPECT_NE(*neptune::LoadSecret(token_path()), first);
}

TEST_F(ClusterSecretsTest, AFileThatOthersMayReadIsRefused) {
  ASSERT_TRUE(MakeClusterSecrets(spec_, spec_path()).ok());
  ASSERT_EQ(chmod(token_path().c_str(), 0644), 0);
  EXPECT_EQ(MakeClusterSecrets(spec_, spec_path()).code(),
            neptune::StatusCode::kFailedPrecondition);
}

TEST_F(ClusterSecretsTest, ASpecWithoutOneIsLeftAlone) {
  spec_.clear_admin_token_file();
  EXPECT_TRUE(MakeClusterSecrets(spec_, spec_path()).ok());
  EXPECT_FALSE(std::filesystem::exists(token_path()));
}

TEST_F(ClusterSecretsTest, TheKeyIsMadeForItsOwnerOnlyAndStays) {
  spec_.set_cluster_key_file("../state/key");
  ASSERT_TRUE(MakeClusterSecrets(spec_, spec_path()).ok());
  const auto first = neptune::LoadClusterKeys(folder_ + "/state/key");
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(MakeClusterSecrets(spec_, spec_path()).ok());
  EXPECT_EQ(neptune::LoadClusterKeys(folder_ + "/state/key")->keys(), first->keys());
  ASSERT_EQ(chmod((folder_ + "/state/key").c_str(), 0644), 0);
  EXPECT_EQ(MakeClusterSecrets(spec_, spec_path()).code(),
            neptune::StatusCode::kFailedPrecondition);
}

TEST_F(ClusterSecretsTest, AKeyChangesInTwoSteps) {
  spec_.set_cluster_key_file("../state/key");
  ASSERT_TRUE(MakeClusterSecrets(spec_, spec_path()).ok());
  const std::string path = folder_ + "/state/key";
  const std::string first = neptune::LoadClusterKeys(path)->keys()[0];
  EXPECT_EQ(ChangeClusterKey(path, true).code(), neptune::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(ChangeClusterKey(path, false).ok());
  const auto both = neptune::LoadClusterKeys(path);
  ASSERT_EQ(both->keys().size(), 2u);
  EXPECT_EQ(both->keys()[1], first);
  EXPECT_EQ(ChangeClusterKey(path, false).code(), neptune::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(ChangeClusterKey(path, true).ok());
  EXPECT_EQ(neptune::LoadClusterKeys(path)->keys(), std::vector<std::string>{both->keys()[0]});
}

}  // namespace
}  // namespace search::tools
