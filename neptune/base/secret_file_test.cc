#include "neptune/base/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>

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
