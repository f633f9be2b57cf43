// Arbitrary bytes as entries and messages: refused, or encode to the same bytes again.
//
// The checksum rejects almost all bytes that no encoder made, so the bytes are also tried with a
// correct checksum in front.

#include <glog/logging.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/replication/protocol/commutative_message.h"
#include "neptune/replication/protocol/replica_message.h"

namespace neptune {
namespace {

// Size of a message's bytes before its entries, without the checksum.
constexpr size_t kMessageHeadSize = 87;

void CheckEntry(std::string_view bytes) {
  const StatusOr<LogEntry> entry = DecodeLogEntry(bytes);
  if (entry.ok()) CHECK(EncodeLogEntry(*entry) == bytes);
}

void CheckMessage(std::string_view bytes) {
  const StatusOr<ReplicaMessage> message = DecodeReplicaMessage(bytes);
  if (message.ok()) CHECK(EncodeReplicaMessage(*message) == bytes);
}

void CheckCommutativeMessage(std::string_view bytes) {
  const StatusOr<CommutativeMessage> message = DecodeCommutativeMessage(bytes);
  if (message.ok()) CHECK(EncodeCommutativeMessage(*message) == bytes);
}

// Uses the bytes as a message's header, and as the data after a header with one entry.
void CheckPartsOfCommutativeMessage(std::string_view bytes) {
  std::string headed;
  ByteWriter out(&headed);
  out.Number(Checksum64(bytes));
  out.Counted<uint32_t>(bytes);
  CheckCommutativeMessage(headed);
  CommutativeMessage message;
  message.entries.push_back({.lsn = 1, .kind = EntryKind::kCommutativeWrite});
  std::string whole = EncodeCommutativeMessage(message);
  const size_t entry_size = sizeof(uint32_t) + EncodeLogEntry(message.entries[0]).size();
  whole.resize(whole.size() - entry_size);
  CheckCommutativeMessage(whole + std::string(bytes));
}

std::string WithChecksum(std::string_view bytes, size_t checked_size) {
  std::string result;
  ByteWriter out(&result);
  out.Number(Checksum64(bytes.substr(0, std::min(checked_size, bytes.size()))));
  out.Bytes(bytes);
  return result;
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace neptune;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckEntry(bytes);
  CheckMessage(bytes);
  CheckEntry(WithChecksum(bytes, bytes.size()));
  CheckMessage(WithChecksum(bytes, kMessageHeadSize));
  CheckCommutativeMessage(bytes);
  CheckPartsOfCommutativeMessage(bytes);
  return 0;
}
