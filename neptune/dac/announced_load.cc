#include "neptune/dac/announced_load.h"

#include <algorithm>

#include "neptune/base/byte_order.h"

namespace neptune {
namespace {

constexpr uint8_t kLoadSectionVersion = 1;

}  // namespace

std::string EncodeAnnouncedLoad(const CostMeter& costs, int processor_count,
                                const std::vector<HostedService>& services) {
  std::string section;
  ByteWriter out(&section);
  const auto time = [&](Duration total) {
    const int64_t micros = ToMicros(total / processor_count);
    out.Number(static_cast<uint32_t>(std::clamp<int64_t>(micros, 0, UINT32_MAX)));
  };
  out.Number(kLoadSectionVersion);
  time(costs.pending());
  for (const HostedService& hosted : services) {
    const CostMeter::Means means = costs.Of(hosted.service);
    time(means.local);
    time(means.reduce);
  }
  return section;
}

std::optional<ServerLoad> AnnouncedLoadOf(const Announcement& announcement,
                                          const ServiceName& service) {
  const auto section = announcement.sections.find(kAggregationLoadSection);
  if (section == announcement.sections.end()) return std::nullopt;
  ByteReader in(section->second);
  if (in.Number<uint8_t>() != kLoadSectionVersion) return std::nullopt;
  const auto time = [&] { return std::chrono::microseconds(in.Number<uint32_t>()); };
  ServerLoad load;
  load.pending = time();
  for (const HostedService& hosted : announcement.services) {
    const Duration local = time();
    const Duration reduce = time();
    if (hosted.service != service) continue;
    load.local_cost = local;
    load.reduce_cost = reduce;
  }
  return in.finished() ? std::optional(load) : std::nullopt;
}

}  // namespace neptune
