#include "neptune/replication/agent/addressed_message.h"

#include <cstdint>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr uint8_t kVersion = 1;

}  // namespace

std::string EncodeAddressedMessages(const std::vector<AddressedMessage>& messages) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Number(kVersion);
  for (const AddressedMessage& addressed : messages) {
    writer.Counted<uint8_t>(addressed.service.value());
    writer.Number(addressed.partition.value());
    writer.Counted<uint8_t>(addressed.from.value());
    writer.Counted<uint32_t>(addressed.message);
  }
  return bytes;
}

StatusOr<std::vector<AddressedMessage>> DecodeAddressedMessages(std::string_view bytes) {
  ByteReader reader(bytes);
  if (reader.Number<uint8_t>() != kVersion) return DataLoss("messages have an unknown version");
  std::vector<AddressedMessage> messages;
  while (!reader.failed() && reader.remaining() > 0) {
    AddressedMessage& addressed = messages.emplace_back();
    addressed.service = ServiceName(std::string(reader.Counted<uint8_t>()));
    addressed.partition = PartitionId(reader.Number<uint32_t>());
    addressed.from = NodeId(std::string(reader.Counted<uint8_t>()));
    addressed.message = reader.Counted<uint32_t>();
  }
  if (!reader.finished()) return DataLoss("messages of ", bytes.size(), " bytes are malformed");
  return messages;
}

}  // namespace neptune
