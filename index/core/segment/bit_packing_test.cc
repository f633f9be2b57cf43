#include "index/core/segment/bit_packing.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace search::index {
namespace {

std::vector<uint32_t> RandomValues(uint32_t count, uint32_t bits, std::mt19937& rng) {
  std::vector<uint32_t> values(count);
  for (uint32_t& value : values) {
    value = bits == 0 ? 0 : static_cast<uint32_t>(rng()) >> (32 - bits);
  }
  return values;
}

TEST(BitPackingTest, EveryWidthAndCountComesBack) {
  std::mt19937 rng(1);
  for (uint32_t bits = 0; bits <= 32; ++bits) {
    for (uint32_t count = 1; count <= kPackedCountMax; ++count) {
      const std::vector<uint32_t> values = RandomValues(count, bits, rng);
      std::string packed = "x";
      Pack(values.data(), count, bits, &packed);
      ASSERT_EQ(packed.size(), 1 + PackedSize(count, bits));
      // An exact copy on the heap, so that a sanitizer detects reads past its end.
      const std::vector<char> bytes(packed.begin() + 1, packed.end());
      std::vector<uint32_t> unpacked(kPackedCountMax);
      Unpack(bytes.data(), count, bits, unpacked.data());
      unpacked.resize(count);
      ASSERT_EQ(unpacked, values) << bits << " bits, count " << count;
      const uint32_t first = static_cast<uint32_t>(rng()) % count;
      std::vector<uint32_t> some(static_cast<uint32_t>(rng()) % (count - first + 1));
      UnpackSome(bytes.data(), count, bits, first, static_cast<uint32_t>(some.size()), some.data());
      ASSERT_TRUE(std::equal(some.begin(), some.end(), values.begin() + first)) << bits << " bits";
    }
  }
}

TEST(BitPackingTest, WidthIsThatOfTheLargest) {
  const std::vector<uint32_t> values = {0, 1, 5, 2};
  EXPECT_EQ(BitWidthOf(values.data(), 4), 3U);
  EXPECT_EQ(BitWidthOf(values.data(), 1), 0U);
  const uint32_t largest = UINT32_MAX;
  EXPECT_EQ(BitWidthOf(&largest, 1), 32U);
}

TEST(BitPackingTest, GapsBecomeAscendingOrdinals) {
  std::mt19937 rng(2);
  for (uint32_t count = 1; count <= kPackedCountMax; ++count) {
    std::vector<uint32_t> values = RandomValues(count, 10, rng);
    std::vector<uint32_t> expected;
    uint32_t next = 77;
    for (const uint32_t gap : values) {
      next += gap;
      expected.push_back(next++);
    }
    GapsToOrdinals(77, count, values.data());
    ASSERT_EQ(values, expected) << count;
  }
}

}  // namespace
}  // namespace search::index
