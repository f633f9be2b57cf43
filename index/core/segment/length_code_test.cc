#include "index/core/segment/length_code.h"

#include <gtest/gtest.h>

#include <cmath>

#include "index/core/segment/varint.h"

namespace search::index {
namespace {

TEST(LengthCodeTest, ShortLengthsAreExact) {
  for (uint32_t length = 0; length < kExactLengthCount; ++length) {
    EXPECT_EQ(DecodeLength(EncodeLength(length)), static_cast<float>(length));
  }
}

TEST(LengthCodeTest, LongerLengthsAreWithinOnePartIn32AndNeverOutOfOrder) {
  uint8_t last = 0;
  for (uint32_t length = 1; length <= kFieldTokensMax; ++length) {
    const uint8_t code = EncodeLength(length);
    ASSERT_GE(code, last);
    last = code;
    ASSERT_LE(std::abs(DecodeLength(code) - static_cast<float>(length)),
              static_cast<float>(length) / 32);
  }
  EXPECT_EQ(last, 255);
}

TEST(LengthCodeTest, LengthsOverTheLimitCountAsTheLimit) {
  EXPECT_EQ(EncodeLength(UINT32_MAX), EncodeLength(kFieldTokensMax));
}

TEST(VarintTest, EveryMagnitudeComesBack) {
  std::string bytes;
  std::vector<uint64_t> values = {0};
  for (unsigned shift = 0; shift < 64; ++shift) {
    values.push_back(uint64_t{1} << shift);
    values.push_back((uint64_t{1} << shift) - 1);
  }
  values.push_back(UINT64_MAX);
  for (const uint64_t value : values) PutVarint(value, &bytes);
  const char* at = bytes.data();
  for (const uint64_t value : values) {
    uint64_t decoded = 0;
    ASSERT_TRUE(GetVarint(&at, bytes.data() + bytes.size(), &decoded));
    EXPECT_EQ(decoded, value);
  }
  EXPECT_EQ(at, bytes.data() + bytes.size());
}

TEST(VarintTest, CutOffOrTooLongIsRefused) {
  uint64_t value = 0;
  for (const std::string& bytes : {std::string(), std::string("\x80"), std::string(11, '\x80'),
                                   std::string(9, '\x80') + '\x02'}) {
    const char* at = bytes.data();
    EXPECT_FALSE(GetVarint(&at, bytes.data() + bytes.size(), &value));
  }
}

}  // namespace
}  // namespace search::index
