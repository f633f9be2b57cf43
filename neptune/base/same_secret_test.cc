#include "neptune/base/same_secret.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

// The hash of "abc" is an example of FIPS 180-4.
TEST(ApiKeyHashTest, IsWhatSha256sumPrints) {
  EXPECT_EQ(ApiKeyHash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(ApiKeyHash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(ApiKeyHash("abc").size(), kApiKeyHashSize);
}

}  // namespace
}  // namespace neptune
