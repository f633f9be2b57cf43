#include "neptune/wire/wire_memory.h"

namespace neptune {

bool WireMemory::TryChargeRequest(MemoryShare& share, MemoryUse use, std::string_view section,
                                  ReceivedNames* names, size_t size, MemoryCharge* charge) const {
  if (share.TryCharge(use, size, RankOf(size), charge)) return true;
  if (is_control == nullptr) return false;
  // Headers are decoded under pressure only.
  RequestHeader header;
  return DecodeRequestHeader(section, &header, names).ok() && is_control(header) &&
         share.TryCharge(use, size, MemoryRank::kControl, charge);
}

bool WireMemory::TryChargeRequest(MemoryShare& share, MemoryUse use, const RequestHeader& header,
                                  size_t size, MemoryCharge* charge) const {
  if (share.TryCharge(use, size, RankOf(size), charge)) return true;
  return IsControl(header) && share.TryCharge(use, size, MemoryRank::kControl, charge);
}

}  // namespace neptune
