#include "neptune/world/real/spare_buffers.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace neptune {
namespace {

TEST(SpareBuffersTest, ABufferComesBackEmptyWithItsRoom) {
  SpareBuffers buffers;
  EXPECT_EQ(buffers.Take(), "");
  std::string sent(1000, 'x');
  const char* const room = sent.data();
  buffers.GiveBack(std::move(sent));
  const std::string again = buffers.Take();
  EXPECT_EQ(again, "");
  EXPECT_GE(again.capacity(), 1000u);
  EXPECT_EQ(again.data(), room);
  EXPECT_EQ(buffers.count(), 0u);
}

TEST(SpareBuffersTest, KeepsNeitherSmallNorLargeNorMany) {
  SpareBuffers buffers;
  buffers.GiveBack("small");
  buffers.GiveBack(std::string(SpareBuffers::kSizeMax + 1, 'x'));
  EXPECT_EQ(buffers.count(), 0u);
  for (size_t i = 0; i < 2 * SpareBuffers::kCountMax; ++i) {
    buffers.GiveBack(std::string(SpareBuffers::kSizeMin, 'x'));
  }
  EXPECT_EQ(buffers.count(), SpareBuffers::kCountMax);
}

}  // namespace
}  // namespace neptune
