#include "neptune/membership/announcement.h"

#include <optional>
#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/base/plain_name.h"
#include "neptune/base/strings.h"
#include "neptune/membership/packed_partitions.h"

namespace neptune {
namespace {

constexpr uint32_t kMagic = 0x4e504132;            // "NPA2"
constexpr uint32_t kPackedMagic = 0x4e504133;      // "NPA3"
constexpr uint32_t kCorrectionMagic = 0x4e504331;  // "NPC1"
constexpr uint8_t kFlagGoodbye = 1;
constexpr uint8_t kFlagDraining = 2;
constexpr uint8_t kServiceFlagControl = 1;
constexpr uint8_t kServiceFlagPacked = 2;  // NPA3 only

void WriteEndpoint(ByteWriter& writer, const Endpoint& endpoint) {
  writer.Number(endpoint.address);
  writer.Number(endpoint.port);
}

Endpoint ReadEndpoint(ByteReader& reader) {
  Endpoint endpoint;
  endpoint.address = reader.Number<uint32_t>();
  endpoint.port = reader.Number<uint16_t>();
  return endpoint;
}

// `may_pack`: partitions may be packed, where that is shorter.
void WriteService(ByteWriter& writer, const HostedService& hosted, bool may_pack) {
  const size_t plain_size = sizeof(uint16_t) + sizeof(uint32_t) * hosted.partitions.size();
  const std::optional<std::string> packed =
      may_pack ? PackPartitions(hosted.partitions) : std::nullopt;
  const bool is_packed = packed && packed->size() < plain_size;
  writer.Counted<uint8_t>(hosted.service.value());
  writer.Number(hosted.interface_version);
  writer.Counted<uint8_t>(hosted.implementation);
  writer.Number(static_cast<uint8_t>((hosted.is_control ? kServiceFlagControl : 0) |
                                     (is_packed ? kServiceFlagPacked : 0)));
  if (is_packed) return writer.Bytes(*packed);
  writer.Number(static_cast<uint16_t>(hosted.partitions.size()));
  for (const PartitionId& partition : hosted.partitions) writer.Number(partition.value());
}

StatusOr<HostedService> ReadService(ByteReader& reader, bool may_pack) {
  HostedService hosted;
  hosted.service = ServiceName(std::string(reader.Counted<uint8_t>()));
  hosted.interface_version = reader.Number<uint16_t>();
  hosted.implementation = std::string(reader.Counted<uint8_t>());
  const auto flags = reader.Number<uint8_t>();
  hosted.is_control = (flags & kServiceFlagControl) != 0;
  if (may_pack && (flags & kServiceFlagPacked) != 0) {
    NEPTUNE_ASSIGN_OR_RETURN(hosted.partitions, UnpackPartitions(reader));
    return hosted;
  }
  const auto count = reader.Number<uint16_t>();
  for (int i = 0; i < count && !reader.failed(); ++i) {
    hosted.partitions.emplace_back(reader.Number<uint32_t>());
  }
  return hosted;
}

// Returns the bytes before the checksum, if the checksum is correct.
StatusOr<std::string_view> CheckedBody(std::string_view bytes) {
  if (bytes.size() < sizeof(uint64_t) || bytes.size() > kAnnouncementSizeMax) {
    return DataLoss("announcement of ", bytes.size(), " bytes");
  }
  const std::string_view body = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  if (Checksum64(body) != LoadBigEndian<uint64_t>(bytes.data() + body.size())) {
    return DataLoss("announcement of ", bytes.size(), " bytes fails its checksum");
  }
  return body;
}

}  // namespace

uint64_t ClusterNumber(std::string_view cluster_name) { return Checksum64(cluster_name); }

namespace {

std::string Encode(const Announcement& announcement, bool may_pack) {
  std::string out;
  ByteWriter writer(&out);
  writer.Number(may_pack ? kPackedMagic : kMagic);
  writer.Number(announcement.cluster);
  writer.Counted<uint8_t>(announcement.node.value());
  writer.Number(announcement.incarnation);
  writer.Number(announcement.sequence);
  WriteEndpoint(writer, announcement.call_endpoint);
  WriteEndpoint(writer, announcement.control_endpoint);
  WriteEndpoint(writer, announcement.probe_endpoint);
  WriteEndpoint(writer, announcement.admin_endpoint);
  writer.Number(static_cast<uint8_t>((announcement.goodbye ? kFlagGoodbye : 0) |
                                     (announcement.draining ? kFlagDraining : 0)));
  writer.Number(announcement.load_index);
  writer.Number(announcement.cpu_load_permille);
  writer.Number(announcement.io_load_permille);
  writer.Number(static_cast<uint8_t>(announcement.services.size()));
  for (const HostedService& hosted : announcement.services) {
    WriteService(writer, hosted, may_pack);
  }
  writer.Number(static_cast<uint8_t>(announcement.sections.size()));
  for (const auto& [tag, bytes] : announcement.sections) {
    writer.Number(tag);
    writer.Counted<uint16_t>(bytes);
  }
  writer.Number(Checksum64(out));
  return out;
}

}  // namespace

// Packed only if it does not fit otherwise, because older nodes do not know this form.
StatusOr<std::string> EncodeAnnouncement(const Announcement& announcement, size_t size_max) {
  std::string out = Encode(announcement, /*may_pack=*/false);
  if (out.size() > size_max) out = Encode(announcement, /*may_pack=*/true);
  if (out.size() > size_max || announcement.services.size() > 255) {
    return ResourceExhausted("announcement of node ", announcement.node, " with ",
                             announcement.services.size(), " services takes ", out.size(),
                             " bytes; a datagram holds ", size_max);
  }
  return out;
}

StatusOr<Announcement> DecodeAnnouncement(std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view body, CheckedBody(bytes));
  ByteReader reader(body);
  const auto magic = reader.Number<uint32_t>();
  if (magic != kMagic && magic != kPackedMagic) return DataLoss("datagram is not an announcement");
  Announcement announcement;
  announcement.cluster = reader.Number<uint64_t>();
  announcement.node = NodeId(std::string(reader.Counted<uint8_t>()));
  announcement.incarnation = reader.Number<uint64_t>();
  announcement.sequence = reader.Number<uint64_t>();
  announcement.call_endpoint = ReadEndpoint(reader);
  announcement.control_endpoint = ReadEndpoint(reader);
  announcement.probe_endpoint = ReadEndpoint(reader);
  announcement.admin_endpoint = ReadEndpoint(reader);
  const auto flags = reader.Number<uint8_t>();
  announcement.goodbye = (flags & kFlagGoodbye) != 0;
  announcement.draining = (flags & kFlagDraining) != 0;
  announcement.load_index = reader.Number<uint32_t>();
  announcement.cpu_load_permille = reader.Number<uint16_t>();
  announcement.io_load_permille = reader.Number<uint16_t>();
  const auto service_count = reader.Number<uint8_t>();
  for (int i = 0; i < service_count && !reader.failed(); ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(HostedService hosted, ReadService(reader, magic == kPackedMagic));
    announcement.services.push_back(std::move(hosted));
  }
  const auto section_count = reader.Number<uint8_t>();
  for (int i = 0; i < section_count && !reader.failed(); ++i) {
    const auto tag = reader.Number<uint8_t>();
    announcement.sections[tag] = std::string(reader.Counted<uint16_t>());
  }
  if (!reader.finished()) return DataLoss("announcement of ", bytes.size(), " bytes is malformed");
  // Names are written to logs and shown on pages; their sender may be unknown.
  bool are_plain = IsPlainName(announcement.node.value());
  for (const HostedService& hosted : announcement.services) {
    are_plain = are_plain && IsPlainName(hosted.service.value());
  }
  if (!are_plain) return DataLoss("announcement of ", bytes.size(), " bytes has an invalid name");
  return announcement;
}

std::string EncodeCorrection(const Correction& correction) {
  std::string out;
  ByteWriter writer(&out);
  writer.Number(kCorrectionMagic);
  writer.Number(correction.cluster);
  writer.Counted<uint8_t>(correction.node.value());
  writer.Number(correction.incarnation);
  writer.Number(Checksum64(out));
  return out;
}

StatusOr<Correction> DecodeCorrection(std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view body, CheckedBody(bytes));
  ByteReader reader(body);
  if (reader.Number<uint32_t>() != kCorrectionMagic)
    return DataLoss("datagram is not a correction");
  Correction correction;
  correction.cluster = reader.Number<uint64_t>();
  correction.node = NodeId(std::string(reader.Counted<uint8_t>()));
  correction.incarnation = reader.Number<uint64_t>();
  if (!reader.finished()) return DataLoss("correction of ", bytes.size(), " bytes is malformed");
  return correction;
}

}  // namespace neptune
