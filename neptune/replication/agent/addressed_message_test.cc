#include "neptune/replication/agent/addressed_message.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace neptune {
namespace {

AddressedMessage Addressed(uint32_t partition, const std::string& from,
                           const std::string& message) {
  return {.service = ServiceName("forum"),
          .partition = PartitionId(partition),
          .from = NodeId(from),
          .message = message};
}

TEST(AddressedMessageTest, MessagesArriveInTheirOrderWithAnyBytes) {
  const std::vector<AddressedMessage> messages = {
      Addressed(7, "s1", std::string("\0\xff\x01", 3)), Addressed(4'000'000'000, "s1", ""),
      Addressed(0, std::string(255, 'n'), std::string(100'000, 'x'))};
  const auto decoded = DecodeAddressedMessages(EncodeAddressedMessages(messages));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, messages);
  EXPECT_TRUE(DecodeAddressedMessages(EncodeAddressedMessages({}))->empty());
}

TEST(AddressedMessageTest, MessagesThatAreCutOffAreRefused) {
  const std::string first = EncodeAddressedMessages({Addressed(7, "s1", "one")});
  const std::string both =
      EncodeAddressedMessages({Addressed(7, "s1", "one"), Addressed(8, "s2", "two")});
  for (size_t size = 0; size < both.size(); ++size) {
    const auto decoded = DecodeAddressedMessages(both.substr(0, size));
    if (size == 1 || size == first.size()) {
      EXPECT_TRUE(decoded.ok()) << "whole messages only";
    } else {
      EXPECT_EQ(decoded.status().code(), StatusCode::kDataLoss) << size;
    }
  }
  EXPECT_FALSE(DecodeAddressedMessages(both + "x").ok());
}

TEST(AddressedMessageTest, MessagesOfAnotherVersionAreRefused) {
  std::string bytes = EncodeAddressedMessages({Addressed(7, "s1", "one")});
  ++bytes[0];
  EXPECT_EQ(DecodeAddressedMessages(bytes).status().code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace neptune
