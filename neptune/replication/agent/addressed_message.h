// A replica's message addressed to another node, and the encoding of many of them in one call.
//
// Threads: immutable values.
// Errors: kDataLoss the bytes are malformed.
// Limits: names of 255 bytes.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"

namespace neptune {

// A message with its partition and its sender.
struct AddressedMessage {
  ServiceName service;
  PartitionId partition;
  NodeId from;
  std::string message;
  friend bool operator==(const AddressedMessage&, const AddressedMessage&) = default;
};

std::string EncodeAddressedMessages(const std::vector<AddressedMessage>& messages);
StatusOr<std::vector<AddressedMessage>> DecodeAddressedMessages(std::string_view bytes);

}  // namespace neptune
