#include "neptune/wire/wire_memory.h"

namespace neptune {

bool WireMemory::IsControl(std::string_view section) const {
  if (is_control == nullptr) return false;
  const StatusOr<RequestHeader> header = DecodeRequestHeader(section);
  return header.ok() && is_control(*header);
}

bool WireMemory::TryChargeRequest(MemoryShare& share, MemoryUse use, std::string_view section,
                                  size_t size, MemoryCharge* charge) const {
  if (share.TryCharge(use, size, RankOf(size), charge)) return true;
  // Headers are decoded under pressure only.
  return IsControl(section) && share.TryCharge(use, size, MemoryRank::kControl, charge);
}

}  // namespace neptune
