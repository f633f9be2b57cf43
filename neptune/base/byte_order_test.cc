#include "neptune/base/byte_order.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

TEST(ByteOrderTest, NumbersAreBigEndian) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Number<uint16_t>(0x0102);
  writer.Number<uint32_t>(0x03040506);
  writer.Counted<uint8_t>("ab");
  EXPECT_EQ(bytes, std::string("\x01\x02\x03\x04\x05\x06\x02"
                               "ab"));
  ByteReader reader(bytes);
  EXPECT_EQ(reader.Number<uint16_t>(), 0x0102);
  EXPECT_EQ(reader.Number<uint32_t>(), 0x03040506u);
  EXPECT_EQ(reader.Counted<uint8_t>(), "ab");
  EXPECT_TRUE(reader.finished());
}

TEST(ByteOrderTest, ReadPastTheEndFailsForGood) {
  ByteReader reader("\x05xyz");
  EXPECT_EQ(reader.Counted<uint8_t>(), "");
  EXPECT_TRUE(reader.failed());
  EXPECT_EQ(reader.Number<uint8_t>(), 0);
  EXPECT_FALSE(reader.finished());
}

}  // namespace
}  // namespace neptune
