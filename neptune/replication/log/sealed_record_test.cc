#include "neptune/replication/log/sealed_record.h"

#include <gtest/gtest.h>

#include <string>

namespace neptune {
namespace {

TEST(SealedRecordTest, ComesBackAsItWas) {
  for (const std::string record : {"", "x", "a longer record"}) {
    const std::string sealed = Sealed(record);
    const auto unsealed = Unsealed(sealed, "the record");
    ASSERT_TRUE(unsealed.ok()) << unsealed.status();
    EXPECT_EQ(*unsealed, record);
  }
}

TEST(SealedRecordTest, EachFlippedBitAndEachCutIsDamage) {
  const std::string sealed = Sealed("a longer record");
  for (size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    std::string flipped = sealed;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(Unsealed(flipped, "the record").status().code(), StatusCode::kDataLoss) << bit;
  }
  for (size_t size = 0; size < sealed.size(); ++size) {
    const Status status = Unsealed(sealed.substr(0, size), "the record").status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << size;
    EXPECT_NE(ToStd(status.message()).find("the record"), std::string::npos) << status;
  }
}

}  // namespace
}  // namespace neptune
