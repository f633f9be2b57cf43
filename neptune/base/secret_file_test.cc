#include "neptune/base/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/base/wipe.h"

namespace neptune {
namespace {

std::string Written(const std::string& contents, mode_t mode) {
  const std::string path = StrCat(std::getenv("TEST_TMPDIR"), "/secret");
  EXPECT_TRUE(WriteFileAtomically(path, contents).ok());
  EXPECT_EQ(chmod(path.c_str(), mode), 0);
  return path;
}

TEST(SecretFileTest, StripsTheLineEnd) {
  EXPECT_EQ(*LoadSecret(Written("  0123456789abcdef\n", 0600)), "0123456789abcdef");
}

TEST(SecretFileTest, AFileThatOthersMayReadIsRefused) {
  for (const mode_t mode : {0640, 0604, 0620}) {
    EXPECT_EQ(LoadSecret(Written("0123456789abcdef", mode)).status().code(),
              StatusCode::kFailedPrecondition);
  }
}

TEST(SecretFileTest, APipeOrAFolderIsRefusedAtOnce) {
  const std::string pipe = StrCat(std::getenv("TEST_TMPDIR"), "/pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Status status = LoadSecret(pipe).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("not a regular file"), absl::string_view::npos) << status;
  EXPECT_EQ(LoadSecret(std::getenv("TEST_TMPDIR")).status().code(),
            StatusCode::kFailedPrecondition);
}

TEST(SecretFileTest, ALargeFileIsRefused) {
  EXPECT_EQ(ReadOwnersFile(Written("12345", 0600), 4).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(*ReadOwnersFile(Written("12345", 0600), 5), "12345");
}

TEST(WipeTest, OverwritesTheWholeBuffer) {
  std::string secret(100, 's');
  secret.resize(60);
  const char* const at = secret.data();
  {
    const WipeAtEnd wipe(&secret);
    EXPECT_EQ(at[59], 's');
  }
  EXPECT_TRUE(secret.empty());
  EXPECT_EQ(std::string(at, 100), std::string(100, '\0'));
}

TEST(SecretFileTest, AMadeSecretIsRandomAndForItsOwner) {
  const std::string folder = StrCat(std::getenv("TEST_TMPDIR"), "/made/inside");
  const mode_t before = umask(0);
  ASSERT_TRUE(MakeSecretFile(folder + "/a").ok());
  umask(before);
  ASSERT_TRUE(MakeSecretFile(folder + "/b").ok());
  struct stat info {};
  ASSERT_EQ(stat((folder + "/a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  const std::string secret = *LoadSecret(folder + "/a");
  EXPECT_EQ(secret.size(), 64u);
  EXPECT_EQ(secret.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(secret, *LoadSecret(folder + "/b"));
  ASSERT_TRUE(MakeSecretFile(folder + "/a").ok());
  EXPECT_EQ(*LoadSecret(folder + "/a"), secret) << "an existing one is kept";
}

TEST(SecretFileTest, ThoseThatMakeItTogetherFindOneSecret) {
  const std::string path = StrCat(std::getenv("TEST_TMPDIR"), "/together");
  std::vector<std::string> found(8);
  std::vector<std::thread> threads;
  for (std::string& secret : found) {
    threads.emplace_back([&] {
      ASSERT_TRUE(MakeSecretFile(path).ok());
      secret = LoadSecret(path).value_or("");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, std::vector<std::string>(8, *LoadSecret(path)));
}

TEST(SecretFileTest, InvalidSecretIsRefusedAndNotShown) {
  for (const char* const contents : {"", "short", "two words 0123456789", "0123456789abcde\x01"}) {
    const Status status = LoadSecret(Written(contents, 0600)).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << contents;
    if (*contents != 0) {
      EXPECT_EQ(status.message().find(contents), absl::string_view::npos) << status;
    }
  }
  EXPECT_FALSE(LoadSecret(Written(std::string(kSecretSizeMax + 1, 'x'), 0600)).ok());
  EXPECT_EQ(LoadSecret("/absent/secret").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace neptune
