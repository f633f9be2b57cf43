#include "neptune/replication/agent/replica_letter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace neptune {
namespace {

ReplicaLetter Letter(uint32_t partition, const std::string& from, const std::string& message) {
  return {.service = ServiceName("forum"),
          .partition = PartitionId(partition),
          .from = NodeId(from),
          .message = message};
}

TEST(ReplicaLetterTest, LettersArriveInTheirOrderWithAnyBytes) {
  const std::vector<ReplicaLetter> letters = {
      Letter(7, "s1", std::string("\0\xff\x01", 3)), Letter(4'000'000'000, "s1", ""),
      Letter(0, std::string(255, 'n'), std::string(100'000, 'x'))};
  const auto decoded = DecodeReplicaLetters(EncodeReplicaLetters(letters));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, letters);
  EXPECT_TRUE(DecodeReplicaLetters(EncodeReplicaLetters({}))->empty());
}

TEST(ReplicaLetterTest, LettersThatAreCutOffAreRefused) {
  const std::string first = EncodeReplicaLetters({Letter(7, "s1", "one")});
  const std::string both = EncodeReplicaLetters({Letter(7, "s1", "one"), Letter(8, "s2", "two")});
  for (size_t size = 0; size < both.size(); ++size) {
    const auto decoded = DecodeReplicaLetters(both.substr(0, size));
    if (size == 1 || size == first.size()) {
      EXPECT_TRUE(decoded.ok()) << "whole letters only";
    } else {
      EXPECT_EQ(decoded.status().code(), StatusCode::kDataLoss) << size;
    }
  }
  EXPECT_FALSE(DecodeReplicaLetters(both + "x").ok());
}

TEST(ReplicaLetterTest, LettersOfAnotherVersionAreRefused) {
  std::string bytes = EncodeReplicaLetters({Letter(7, "s1", "one")});
  ++bytes[0];
  EXPECT_EQ(DecodeReplicaLetters(bytes).status().code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace neptune
