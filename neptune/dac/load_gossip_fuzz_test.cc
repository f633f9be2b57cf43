// Whatever comes from the network is refused or decodes to bounded loads that are not of the
// future.

#include <glog/logging.h>

#include "neptune/dac/load_gossip.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const neptune::TimePoint now(std::chrono::hours(2));
  const auto loads = neptune::DecodeGossip(bytes, now);
  if (!loads.ok()) return 0;
  CHECK_LE(loads->size(), neptune::kGossipCountMax);
  neptune::LoadGossip gossip;
  for (const neptune::GossipedLoad& load : *loads) {
    CHECK(load.taken_at <= now);
    CHECK(load.pending >= neptune::Duration(0));
    gossip.Merge(load);
  }
  CHECK_LE(gossip.Encode(now).size(), neptune::kGossipSizeMax);
  CHECK(neptune::DecodeGossip(gossip.Encode(now), now).ok());
  return 0;
}
