#include "neptune/replication/agent/replica_letter.h"

#include <cstdint>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr uint8_t kVersion = 1;

}  // namespace

std::string EncodeReplicaLetters(const std::vector<ReplicaLetter>& letters) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Number(kVersion);
  for (const ReplicaLetter& letter : letters) {
    writer.Counted<uint8_t>(letter.service.value());
    writer.Number(letter.partition.value());
    writer.Counted<uint8_t>(letter.from.value());
    writer.Counted<uint32_t>(letter.message);
  }
  return bytes;
}

StatusOr<std::vector<ReplicaLetter>> DecodeReplicaLetters(std::string_view bytes) {
  ByteReader reader(bytes);
  if (reader.Number<uint8_t>() != kVersion) return DataLoss("letters have an unknown version");
  std::vector<ReplicaLetter> letters;
  while (!reader.failed() && reader.remaining() > 0) {
    ReplicaLetter& letter = letters.emplace_back();
    letter.service = ServiceName(std::string(reader.Counted<uint8_t>()));
    letter.partition = PartitionId(reader.Number<uint32_t>());
    letter.from = NodeId(std::string(reader.Counted<uint8_t>()));
    letter.message = reader.Counted<uint32_t>();
  }
  if (!reader.finished()) return DataLoss("letters of ", bytes.size(), " bytes are malformed");
  return letters;
}

}  // namespace neptune
