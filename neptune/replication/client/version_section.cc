#include "neptune/replication/client/version_section.h"

#include <algorithm>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"

namespace neptune {
namespace {

constexpr uint8_t kFormat = 1;
constexpr size_t kRecordSize = 4 + 4 + 1 + 8 + 8 + 8;
constexpr uint8_t kFlagPrimary = 1;
constexpr uint8_t kFlagBounded = 2;
constexpr uint8_t kFlagPeer = 4;

AnnouncedVersion ReadVersion(ByteReader& reader) {
  AnnouncedVersion version;
  version.service = reader.Number<uint32_t>();
  version.partition = PartitionId(reader.Number<uint32_t>());
  const auto flags = reader.Number<uint8_t>();
  version.is_primary = (flags & kFlagPrimary) != 0;
  version.is_staleness_bounded = (flags & kFlagBounded) != 0;
  version.is_peer = (flags & kFlagPeer) != 0;
  version.epoch = reader.Number<uint64_t>();
  version.version = reader.Number<uint64_t>();
  version.version_then = reader.Number<uint64_t>();
  return version;
}

bool HasPossibleLsns(const AnnouncedVersion& version) {
  return version.version <= kLsnMax && version.version_then <= kLsnMax;
}

}  // namespace

uint32_t ServiceNumber(const ServiceName& service) { return Checksum32(service.value()); }

std::string EncodeVersions(const std::vector<AnnouncedVersion>& versions, size_t* first) {
  const size_t count = std::min(versions.size(), (kVersionSectionSizeMax - 1) / kRecordSize);
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Number(kFormat);
  for (size_t i = 0; i < count; ++i) {
    const AnnouncedVersion& version = versions[(*first + i) % versions.size()];
    writer.Number(version.service);
    writer.Number(version.partition.value());
    writer.Number(static_cast<uint8_t>((version.is_primary ? kFlagPrimary : 0) |
                                       (version.is_staleness_bounded ? kFlagBounded : 0) |
                                       (version.is_peer ? kFlagPeer : 0)));
    writer.Number(version.epoch);
    writer.Number(version.version);
    writer.Number(version.version_then);
  }
  if (count > 0) *first = (*first + count) % versions.size();
  return bytes;
}

StatusOr<std::vector<AnnouncedVersion>> DecodeVersions(std::string_view bytes) {
  ByteReader reader(bytes);
  if (reader.Number<uint8_t>() != kFormat) return DataLoss("versions have an unknown format");
  std::vector<AnnouncedVersion> versions;
  bool are_possible = true;
  while (!reader.failed() && reader.remaining() > 0) {
    versions.push_back(ReadVersion(reader));
    are_possible = are_possible && HasPossibleLsns(versions.back());
  }
  if (!reader.finished() || !are_possible) {
    return DataLoss("versions of ", bytes.size(), " bytes are malformed");
  }
  return versions;
}

std::optional<AnnouncedVersion> FindVersion(std::string_view bytes, const ServiceName& service,
                                            PartitionId partition) {
  ByteReader reader(bytes);
  if (reader.Number<uint8_t>() != kFormat) return std::nullopt;
  const uint32_t number = ServiceNumber(service);
  while (!reader.failed() && reader.remaining() > 0) {
    const AnnouncedVersion version = ReadVersion(reader);
    if (reader.failed()) break;
    if (version.service != number || version.partition != partition) continue;
    return HasPossibleLsns(version) ? std::optional(version) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace neptune
