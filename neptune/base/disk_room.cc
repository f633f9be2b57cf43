#include "neptune/base/disk_room.h"

#include <algorithm>

namespace neptune {
namespace {

// Part of the disk that a default reserve may be at most, as a divisor: small disks are usable too.
constexpr uint64_t kReserveShareMax = 10;
// Part by which the free space must exceed a mark before its step is taken back, as a divisor.
constexpr uint64_t kReturnShare = 8;

uint64_t ReserveOf(uint64_t wanted, uint64_t total) {
  if (wanted != 0) return wanted;
  const uint64_t share = std::max(DiskRoom::kReserveMin, total / DiskRoom::kReserveShare);
  return std::min(share, total / kReserveShareMax);
}

// The free space below which `level` begins.
uint64_t MarkOf(DiskRoom::Level level, uint64_t reserve) {
  switch (level) {
    case DiskRoom::Level::kAmple:
      return UINT64_MAX;
    case DiskRoom::Level::kLow:
      return 2 * reserve;
    case DiskRoom::Level::kFull:
      return reserve;
    case DiskRoom::Level::kCritical:
      return reserve / 2;
  }
  return 0;
}

}  // namespace

std::string_view NameOf(DiskRoom::Level level) {
  switch (level) {
    case DiskRoom::Level::kAmple:
      return "ample";
    case DiskRoom::Level::kLow:
      return "low";
    case DiskRoom::Level::kFull:
      return "full";
    case DiskRoom::Level::kCritical:
      return "critical";
  }
  return "";
}

bool DiskRoom::Update(const DiskSpace& space) {
  const uint64_t reserve = ReserveOf(wanted_reserve_, space.total);
  const Level before = level();
  Level next = Level::kAmple;
  for (const Level level : {Level::kLow, Level::kFull, Level::kCritical}) {
    uint64_t mark = MarkOf(level, reserve);
    if (level <= before) mark += mark / kReturnShare;
    if (space.free < mark) next = level;
  }
  free_.store(space.free, std::memory_order_relaxed);
  reserve_.store(reserve, std::memory_order_relaxed);
  level_.store(next, std::memory_order_relaxed);
  return next != before;
}

Status DiskRoom::CheckWrite() const {
  if (level() < Level::kFull) return OkStatus();
  refused_count_.fetch_add(1, std::memory_order_relaxed);
  return ResourceExhausted("the disk has ", free(), " bytes left, and ", reserve(),
                           " are reserved; reads go on");
}

}  // namespace neptune
