#include "neptune/replication/agent/node_pulse.h"

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr uint8_t kVersion = 1;

}  // namespace

std::string EncodeNodePulse(const NodePulse& pulse) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Number(kVersion);
  writer.Counted<uint8_t>(pulse.from.value());
  writer.Number(pulse.incarnation);
  writer.Number(pulse.end_count);
  for (const LeadEnd& end : pulse.ends) {
    writer.Counted<uint8_t>(end.service.value());
    writer.Number(end.partition.value());
  }
  return bytes;
}

StatusOr<NodePulse> DecodeNodePulse(std::string_view bytes) {
  ByteReader reader(bytes);
  if (reader.Number<uint8_t>() != kVersion) return DataLoss("a pulse has an unknown version");
  NodePulse pulse;
  pulse.from = NodeId(std::string(reader.Counted<uint8_t>()));
  pulse.incarnation = reader.Number<uint64_t>();
  pulse.end_count = reader.Number<uint64_t>();
  while (!reader.failed() && reader.remaining() > 0) {
    if (pulse.ends.size() == kPulseEndCountMax) return DataLoss("a pulse has too many ends");
    LeadEnd& end = pulse.ends.emplace_back();
    end.service = ServiceName(std::string(reader.Counted<uint8_t>()));
    end.partition = PartitionId(reader.Number<uint32_t>());
  }
  const bool sound =
      reader.finished() && pulse.incarnation != 0 && pulse.ends.size() <= pulse.end_count;
  if (!sound) return DataLoss("a pulse of ", bytes.size(), " bytes is malformed");
  return pulse;
}

}  // namespace neptune
