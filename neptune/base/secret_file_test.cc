#include "neptune/base/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

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
