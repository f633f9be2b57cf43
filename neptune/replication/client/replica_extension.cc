#include "neptune/replication/client/replica_extension.h"

#include <limits>

#include "neptune/base/byte_order.h"

namespace neptune {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
// Longer times are decoded as unknown.
constexpr uint64_t kMicrosMax = uint64_t{1} << 52;
constexpr size_t kNodeNameSizeMax = 200;

uint64_t MicrosOf(const std::optional<Duration>& time) {
  if (!time || time->count() < 0) return kUnknown;
  return static_cast<uint64_t>(std::chrono::ceil<std::chrono::microseconds>(*time).count());
}

std::optional<Duration> TimeOfMicros(uint64_t micros) {
  if (micros > kMicrosMax) return std::nullopt;
  return std::chrono::microseconds(micros);
}

}  // namespace

std::string EncodeReplicaDemand(const ReplicaDemand& demand) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Number(kVersion);
  writer.Number(demand.id.client);
  writer.Number(demand.id.number);
  writer.Number(demand.version_min);
  writer.Number(MicrosOf(demand.staleness_max));
  return bytes;
}

StatusOr<ReplicaDemand> DecodeReplicaDemand(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto version = reader.Number<uint8_t>();
  ReplicaDemand demand;
  demand.id.client = reader.Number<uint64_t>();
  demand.id.number = reader.Number<uint64_t>();
  demand.version_min = reader.Number<uint64_t>();
  demand.staleness_max = TimeOfMicros(reader.Number<uint64_t>());
  if (version != kVersion || !reader.finished() || demand.version_min > kLsnMax) {
    return DataLoss("demand of ", bytes.size(), " bytes is malformed");
  }
  return demand;
}

std::string EncodeReplicaReport(const ReplicaReport& report) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Number(kVersion);
  writer.Number(report.version);
  writer.Number(MicrosOf(report.staleness));
  writer.Number(report.epoch);
  writer.Number(static_cast<uint8_t>(report.was_served ? 1 : 0));
  writer.Counted<uint8_t>(std::string_view(report.primary.value()).substr(0, kNodeNameSizeMax));
  return bytes;
}

StatusOr<ReplicaReport> DecodeReplicaReport(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto version = reader.Number<uint8_t>();
  ReplicaReport report;
  report.version = reader.Number<uint64_t>();
  report.staleness = TimeOfMicros(reader.Number<uint64_t>());
  report.epoch = reader.Number<uint64_t>();
  const auto flags = reader.Number<uint8_t>();
  report.was_served = flags == 1;
  report.primary = NodeId(std::string(reader.Counted<uint8_t>()));
  if (version != kVersion || flags > 1 || !reader.finished() || report.version > kLsnMax) {
    return DataLoss("report of ", bytes.size(), " bytes is malformed");
  }
  return report;
}

}  // namespace neptune
