#include "neptune/dac/load_gossip.h"

#include <algorithm>

#include "neptune/base/byte_order.h"

namespace neptune {
namespace {

constexpr uint8_t kGossipVersion = 1;
// Encoded size of one node's entry without its name.
constexpr size_t kFixedSize = 1 + 4 + 4;

uint32_t Micros(Duration time) {
  return static_cast<uint32_t>(std::clamp<int64_t>(ToMicros(time), 0, UINT32_MAX));
}

}  // namespace

void LoadGossip::Merge(const GossipedLoad& load) {
  LeafLock lock(&mutex_);
  const auto [found, is_new] = known_.try_emplace(load.node, Known{load.pending, load.taken_at});
  if (!is_new) {
    if (found->second.taken_at < load.taken_at) found->second = {load.pending, load.taken_at};
    return;
  }
  if (known_.size() <= kGossipNodeCountMax) return;
  std::vector<TimePoint> times;
  for (const auto& [node, known] : known_) times.push_back(known.taken_at);
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  absl::erase_if(known_, [&](const auto& known) { return known.second.taken_at <= *middle; });
}

std::optional<GossipedLoad> LoadGossip::Find(const NodeId& node) const {
  LeafLock lock(&mutex_);
  const auto found = known_.find(node);
  if (found == known_.end()) return std::nullopt;
  return GossipedLoad{node, found->second.pending, found->second.taken_at};
}

std::string LoadGossip::Encode(TimePoint now) const {
  std::vector<GossipedLoad> loads;
  {
    LeafLock lock(&mutex_);
    loads.reserve(known_.size());
    for (const auto& [node, known] : known_) loads.push_back({node, known.pending, known.taken_at});
  }
  std::sort(loads.begin(), loads.end(), [](const GossipedLoad& a, const GossipedLoad& b) {
    return a.taken_at != b.taken_at ? a.taken_at > b.taken_at : a.node < b.node;
  });
  size_t count = 0;
  size_t size = 2;
  while (count < std::min(loads.size(), kGossipCountMax)) {
    size += kFixedSize + loads[count].node.value().size();
    if (size > kGossipSizeMax) break;
    ++count;
  }
  std::string bytes;
  ByteWriter out(&bytes);
  out.Number(kGossipVersion);
  out.Number(static_cast<uint8_t>(count));
  for (size_t i = 0; i < count; ++i) {
    out.Counted<uint8_t>(loads[i].node.value());
    out.Number(Micros(now - loads[i].taken_at));
    out.Number(Micros(loads[i].pending));
  }
  return bytes;
}

StatusOr<std::vector<GossipedLoad>> DecodeGossip(std::string_view bytes, TimePoint now) {
  ByteReader in(bytes);
  if (in.Number<uint8_t>() != kGossipVersion) return DataLoss("gossip of an unknown version");
  const size_t count = in.Number<uint8_t>();
  if (count > kGossipCountMax) return DataLoss("gossip of ", count, " nodes");
  std::vector<GossipedLoad> loads;
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    const std::string_view node = in.Counted<uint8_t>();
    const auto age = std::chrono::microseconds(in.Number<uint32_t>());
    const auto pending = std::chrono::microseconds(in.Number<uint32_t>());
    loads.push_back({NodeId(std::string(node)), pending, now - age});
  }
  if (!in.finished()) return DataLoss("gossip is truncated or has trailing bytes");
  return loads;
}

}  // namespace neptune
